import { connect } from '../client.ts'
import { type Command, CommandError, exitCodes, jsonOption } from '../command.ts'
import { findAgent } from '../find-agent.ts'
import { oneLine, plain, printJson } from '../show.ts'

export const knowledgeSearch: Command = {
  name: 'knowledge search',
  usage: '<agent> <question> [--top COUNT] [--json]',
  about: 'Show the passages that a reply to a question would be grounded in, best first, with their scores.',
  takes: [2, Number.POSITIVE_INFINITY],
  options: { top: { type: 'string', value: 'COUNT', about: 'How many passages, 1 to 100. Default: 10.' }, ...jsonOption },
  details: 'Scores compare within one answer only.',
  async run(terminal, { values, positionals: [given, ...words] }) {
    const topK = values.top === undefined ? {} : { topK: toCount(values.top as string) }
    const client = connect(terminal.env)
    const { id } = await findAgent(client, given!)
    const { hits } = await client.call<'search'>('POST', `/agents/${id}/search`, { body: { query: words.join(' '), ...topK } })
    if (values.json) printJson(terminal, { hits })
    else if (hits.length === 0) terminal.out('Nothing found.')
    else {
      const shown = hits.map(({ title, heading, text, score }, i) => {
        const place = heading === '' ? '' : ` › ${oneLine(heading, 200)}`
        const head = terminal.bold(`${i + 1}. ${oneLine(title, 200)}${place}`)
        return `${head}  (${score.toPrecision(3)})\n${plain(text).trim().replace(/^/gm, '   ')}`
      })
      terminal.out(shown.join('\n\n'))
    }
    return exitCodes.ok
  },
}

function toCount(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 100) return Number(text)
  throw new CommandError('--top must be a whole number from 1 to 100', exitCodes.usage)
}
