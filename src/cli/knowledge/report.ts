import type { Terminal } from '../command.ts'
import { Progress } from '../progress.ts'
import { plain, plainPath, plural } from '../show.ts'
import type { UploadOutcome } from './upload.ts'

/** Reports progress: with a bar on a terminal, else with a line per file. */
export class Report {
  readonly #terminal: Terminal
  readonly #isQuiet: boolean
  readonly #total: number
  readonly #byPath = new Map<string, UploadOutcome>()
  #indexed = 0
  #progress: Progress

  constructor(terminal: Terminal, paths: string[], isQuiet: boolean) {
    this.#terminal = terminal
    this.#total = paths.length
    this.#isQuiet = isQuiet
    this.#progress = new Progress(terminal)
    if (this.#total > 0) this.#show('sending', 0, this.#total)
  }

  sent(outcome: UploadOutcome): void {
    this.#keep(outcome)
    this.#show('sending', this.#byPath.size, this.#total)
  }

  indexed(outcome: UploadOutcome): void {
    this.#keep(outcome)
    this.#show('indexing', ++this.#indexed, this.#indexed + this.queued().length)
  }

  queued(): UploadOutcome[] {
    return this.outcomes().filter(({ state }) => state === 'queued')
  }

  outcomes(): UploadOutcome[] {
    return [...this.#byPath.values()]
  }

  hasFailed(): boolean {
    return this.outcomes().some(({ state }) => state === 'failed')
  }

  summarise(skipped?: string): void {
    if (this.#isQuiet) return
    const all = this.outcomes()
    const count = (state: UploadOutcome['state']) => all.filter((outcome) => outcome.state === state).length
    const parts = [
      `${count('ready')} ready`,
      ...(count('known') > 0 ? [`${count('known')} known already`] : []),
      ...(count('queued') > 0 ? [`${count('queued')} still being indexed`] : []),
      ...(all.length < this.#total ? [`${this.#total - all.length} not sent`] : []),
      `${count('failed')} failed`,
    ]
    this.#terminal.out(`${plural(this.#total, 'file')}: ${parts.join(', ')}.`)
    if (skipped !== undefined) this.#terminal.out(skipped)
    if (this.#terminal.isWatched) for (const outcome of all) if (outcome.state === 'failed') this.#terminal.out(toLine(outcome))
  }

  #keep(outcome: UploadOutcome): void {
    this.#byPath.set(outcome.path, outcome)
    if (!this.#isQuiet && !this.#terminal.isWatched && outcome.state !== 'queued') this.#terminal.out(toLine(outcome))
  }

  #show(what: string, done: number, of: number): void {
    // Without a terminal, each file has its own line.
    if (!this.#isQuiet && this.#terminal.isWatched) this.#progress.show(what, done, of, 'files')
  }
}

const WORDS: Record<UploadOutcome['state'], string> = { ready: 'ready ', known: 'known ', queued: 'queued', failed: 'failed' }
const toLine = ({ state, path, reason }: UploadOutcome): string =>
  `${WORDS[state]}  ${plainPath(path)}${reason === undefined ? '' : `: ${plain(reason)}`}`
