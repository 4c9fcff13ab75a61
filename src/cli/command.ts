/** The input and output of a command: the terminal, or a test. */
export interface Terminal {
  env: NodeJS.ProcessEnv
  /** Writes a line of the result to stdout, possibly for a program. */
  out(text: string): void
  /** Writes a line for the user to stderr. */
  err(text: string): void
  /** Shows a line that the next text replaces, e.g. a progress bar. Does nothing if `isWatched` is false. */
  status(text: string): void
  /** The four styles return the text unchanged if the output is no terminal, or colours are off (`NO_COLOR`). */
  bold(text: string): string
  dim(text: string): string
  /** Styles a success. */
  good(text: string): string
  /** Styles an error, for `err`. */
  bad(text: string): string
  /** True if prompts make sense, because a person can answer. */
  isInteractive: boolean
  /** True if progress bars make sense, because the output is a terminal. */
  isWatched: boolean
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
  /** Aborted by the first ^C from now on; the second one ends the process. */
  interruption(): AbortSignal
}

export interface Option {
  type: 'string' | 'boolean'
  /** The placeholder of the value in the help, e.g. `FILE|TEXT`. */
  value?: string
  about: string
}

export interface ParsedArguments {
  values: Record<string, string | boolean | undefined>
  positionals: string[]
}

/** A command of `repartee`. Each has its own file. */
export interface Command {
  /** As typed, e.g. `knowledge add`. */
  name: string
  /** Its arguments, e.g. `<agent> <file|folder>…`. */
  usage: string
  about: string
  /** The number of arguments. Defaults to none. */
  takes?: readonly [min: number, max: number]
  options?: Record<string, Option>
  /** Rules and examples for the help. */
  details?: string
  /** Resolves to the exit code. Throws `CommandError`, `ReparteeError` or `ConfigError` with a message for the user. */
  run(terminal: Terminal, args: ParsedArguments): Promise<number>
}

/** All exit codes. Shells expect 130 from a program that ^C stopped. */
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
