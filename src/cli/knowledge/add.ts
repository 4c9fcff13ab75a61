import { connect } from '../client.ts'
import { type Command, CommandError, exitCodes, jsonOption, type Terminal } from '../command.ts'
import { findAgent } from '../find-agent.ts'
import { plain, plural, printJson } from '../show.ts'
import { describeSkipped, findFiles } from './files.ts'
import { followDocuments, type Outcome, uploadFiles } from './upload.ts'

export const knowledgeAdd: Command = {
  name: 'knowledge add',
  usage: '<agent> <file|folder>… [--no-wait] [--json]',
  about: 'Add documents to what an agent knows, and wait until they are indexed.',
  takes: [2, Number.POSITIVE_INFINITY],
  options: {
    'no-wait': { type: 'boolean', about: 'Do not wait for the indexing.' },
    ...jsonOption,
  },
  details: `From folders it takes text, Markdown, HTML, PDF, Word, Excel, PowerPoint, CSV and JSON, and leaves out hidden files
and node_modules; a file that is named outright is always sent. Titles come from the documents. A document that is
there already, with the same title and content, is not added twice, so a stopped run can simply be repeated.`,
  async run(terminal, { values, positionals: [given, ...paths] }) {
    const found = findFiles(paths)
    const skipped = describeSkipped(found.skipped)
    if (found.paths.length === 0) throw new CommandError(`There is nothing to add. ${skipped ?? ''}`.trimEnd())
    const signal = terminal.interruption()
    const client = connect(terminal.env)
    const { id: agentId } = await findAgent(client, given!)
    const report = new Report(terminal, found.paths, values.json === true)
    try {
      await uploadFiles({ client, agentId, signal }, found.paths, (outcome) => report.sent(outcome))
      if (!values['no-wait']) {
        await followDocuments({ client, agentId, signal }, report.queued(), (outcome) => report.indexed(outcome))
      }
    } catch (error) {
      if (!signal.aborted) {
        report.summarise()
        throw error
      }
    }
    if (values.json) printJson(terminal, { files: report.outcomes(), skipped: found.skipped })
    else report.summarise(skipped)
    if (signal.aborted) {
      terminal.err('Stopped. What was sent is being indexed; run the command again for the rest.')
      return exitCodes.interrupted
    }
    return report.hasFailed() ? exitCodes.failed : exitCodes.ok
  },
}

/** Tells how it goes: by a bar where somebody looks on, by a line for each file otherwise. */
class Report {
  readonly #terminal: Terminal
  readonly #isQuiet: boolean
  readonly #total: number
  readonly #byPath = new Map<string, Outcome>()
  #indexed = 0

  constructor(terminal: Terminal, paths: string[], isQuiet: boolean) {
    this.#terminal = terminal
    this.#total = paths.length
    this.#isQuiet = isQuiet
    this.#show('Sending ', 0, this.#total)
  }

  sent(outcome: Outcome): void {
    this.#keep(outcome)
    this.#show('Sending ', this.#byPath.size, this.#total)
  }

  indexed(outcome: Outcome): void {
    this.#keep(outcome)
    this.#show('Indexing', ++this.#indexed, this.#indexed + this.queued().length)
  }

  queued(): Outcome[] {
    return this.outcomes().filter(({ state }) => state === 'queued')
  }

  outcomes(): Outcome[] {
    return [...this.#byPath.values()]
  }

  hasFailed(): boolean {
    return this.outcomes().some(({ state }) => state === 'failed')
  }

  summarise(skipped?: string): void {
    if (this.#isQuiet) return
    const all = this.outcomes()
    const count = (state: Outcome['state']) => all.filter((outcome) => outcome.state === state).length
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

  #keep(outcome: Outcome): void {
    this.#byPath.set(outcome.path, outcome)
    if (!this.#isQuiet && !this.#terminal.isWatched && outcome.state !== 'queued') this.#terminal.out(toLine(outcome))
  }

  #show(what: string, done: number, of: number): void {
    if (!this.#isQuiet) this.#terminal.status(`${what} ${bar(done, of)} ${done}/${of}`)
  }
}

const WORDS: Record<Outcome['state'], string> = { ready: 'ready ', known: 'known ', queued: 'queued', failed: 'failed' }
const toLine = ({ state, path, reason }: Outcome): string =>
  `${WORDS[state]}  ${path}${reason === undefined ? '' : `: ${plain(reason)}`}`

const BAR_CHARS = 30

function bar(done: number, of: number): string {
  const full = Math.round((BAR_CHARS * done) / Math.max(of, 1))
  return `[${'█'.repeat(full)}${'░'.repeat(BAR_CHARS - full)}]`
}
