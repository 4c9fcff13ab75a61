import { createInterface, type Interface } from 'node:readline/promises'
import { CommandError, exitCodes, type Terminal } from '../command.ts'

/** Asks the user at the terminal. ^C and ^D end the command. */
export class Asker {
  readonly #terminal: Terminal
  readonly #lines: Interface
  readonly #stop = new AbortController()

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    this.#lines = createInterface({ input: terminal.input, output: terminal.output })
    this.#lines.on('SIGINT', () => this.#stop.abort())
    this.#lines.on('close', () => this.#stop.abort())
  }

  /** Resolves to the trimmed input, or the default if it is empty. */
  async ask(question: string, usual = ''): Promise<string> {
    const hint = usual === '' ? '' : this.#terminal.dim(` [${usual}]`)
    try {
      const typed = await this.#lines.question(`${this.#terminal.bold(question)}${hint} `, { signal: this.#stop.signal })
      return typed.trim() || usual
    } catch (cause) {
      this.#terminal.out('')
      throw new CommandError('Stopped: nothing was made.', exitCodes.interrupted, { cause })
    }
  }

  say(text: string): void {
    this.#terminal.out(text)
  }

  close(): void {
    this.#lines.close()
  }
}
