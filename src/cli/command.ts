/** What a command may print to and ask from: the terminal, or a test. */
export interface Terminal {
  env: NodeJS.ProcessEnv
  /** A line for whoever reads the answer, a program perhaps: stdout. */
  out(text: string): void
  /** A line for the person at the keyboard: stderr. */
  err(text: string): void
  /** Shows a line that the next text takes the place of, e.g. a progress bar; nothing where `isWatched` is false. */
  status(text: string): void
  /** These leave a text as it is where nobody looks on, or no colours are wanted (`NO_COLOR`). */
  bold(text: string): string
  dim(text: string): string
  /** Of what went well. */
  good(text: string): string
  /** Of what went wrong; for `err`. */
  bad(text: string): string
  /** True where a person can be asked: prompts make sense. */
  isInteractive: boolean
  /** True where a person looks on: progress bars make sense. */
  isWatched: boolean
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
  /** Aborted by the first ^C from now on; the second one ends the process. */
  interruption(): AbortSignal
}

export interface Option {
  type: 'string' | 'boolean'
  /** Stands for the value in the help, e.g. `FILE|TEXT`. */
  value?: string
  about: string
}

export interface ParsedArguments {
  values: Record<string, string | boolean | undefined>
  positionals: string[]
}

/** One command of `repartee`, one file each. */
export interface Command {
  /** As typed, e.g. `knowledge add`. */
  name: string
  /** Its arguments, e.g. `<agent> <file|folder>…`. */
  usage: string
  about: string
  /** How many arguments it takes; none where left out. */
  takes?: readonly [min: number, max: number]
  options?: Record<string, Option>
  /** What more its help should say: rules and examples. */
  details?: string
  /** Resolves to the exit code. Throws `CommandError`, `ReparteeError` or `ConfigError` for what the user should be told. */
  run(terminal: Terminal, args: ParsedArguments): Promise<number>
}

/** The one table of exit codes; 130 is what shells expect of a program that ^C stopped. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, config: 3, unreachable: 4, interrupted: 130 } as const

export class CommandError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = exitCodes.failed, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

export const jsonOption: Record<'json', Option> = { json: { type: 'boolean', about: 'Print one JSON document, for programs.' } }
