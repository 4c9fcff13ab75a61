import { connect } from '../client.ts'
import { type Command, CommandError, exitCodes, jsonOption } from '../command.ts'
import { findAgent } from '../find-agent.ts'
import { printJson } from '../show.ts'
import { describeSkipped, findFiles } from './files.ts'
import { Report } from './report.ts'
import { followDocuments, uploadFiles } from './upload.ts'

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
and node_modules; a file that is named outright is always sent. Titles come from the documents, file names are paths
in the folder. A document that is there already, with the same title and content, is not added twice, so a stopped
run can simply be repeated.`,
  async run(terminal, { values, positionals: [given, ...paths] }) {
    const found = findFiles(paths)
    const skipped = describeSkipped(found.skipped)
    if (found.files.length === 0) throw new CommandError(`There is nothing to add. ${skipped ?? ''}`.trimEnd())
    const signal = terminal.interruption()
    const client = connect(terminal.env)
    const { id: agentId } = await findAgent(client, given!)
    const report = new Report(
      terminal,
      found.files.map(({ path }) => path),
      values.json === true,
    )
    try {
      await uploadFiles({ client, agentId, signal }, found.files, (outcome) => report.sent(outcome))
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
