// Measures the tokens of a turn, and whether the prompt contains the evidence, for Repartee and for other systems' defaults.
//   node bench/tokens.ts FOLDER [--sets mtrag-a,coqa-a] [--top 6,3] [--alone] [--json FILE]
// FOLDER contains test collections. A real service runs each conversation with a model that records prompts and gives the collection's
// replies. --top sets the numbers of passages. Other systems are computed (see peers.ts); --alone omits them. Tokens are estimated at 3.5 bytes
// each for all. Providers cache the beginning that a prompt shares with the previous one: at least 1,024 tokens, in steps of 128.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { HistoryEntry } from '../src/core/message.ts'
import type { PromptMessage } from '../src/core/ports/model.ts'
import { estimateTokens, promptTokens } from '../src/core/tokens.ts'
import { type ModelCall, says } from '../test/support/model-server.ts'
import { until } from '../test/support/poll.ts'
import { type Service, startService } from '../test/support/service.ts'
import { mean } from './measures.ts'
import { PeerBase, peers } from './peers.ts'
import { readTalks, squeezed, type TalkSet, type TalkTurn } from './talks.ts'

/** The prompt of a turn. */
interface Sent {
  turn: TalkTurn
  prompt: PromptMessage[]
  before: PromptMessage[]
  /** Tokens of auxiliary calls, such as rewriting a question. */
  beside: number
}

interface Row {
  set: string
  system: string
  turns: number
  /** Share of the evidence that the prompts contain. */
  held: number
  /** Tokens per turn, including auxiliary calls. */
  tokens: number
  beside: number
  /** Share of the tokens that a provider reads from its cache. */
  cached: number
}

const INSTRUCTIONS = 'You are the assistant of a help desk. Answer briefly and in the language of the question.'
const CACHED_FROM = 1_024
const CACHED_STEP = 128

const { values: options, positionals } = parseArgs({
  options: {
    sets: { type: 'string', default: 'mtrag-a,coqa-a,squad2-a,product-docs' },
    top: { type: 'string', default: '6' },
    alone: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
  allowPositionals: true,
})
const folder = positionals[0]
if (folder === undefined) throw new Error('usage: node bench/tokens.ts FOLDER [--sets a,b] [--top 6,3] [--alone] [--json FILE]')

const rows: Row[] = []
const service = await startService({ REPARTEE_MAX_BODY_BYTES: '20000000' })
try {
  for (const name of options.sets.split(',')) {
    const read = readTalks(folder, name)
    const sets = name === 'mtrag-a' ? [read, asOne(read)] : [read]
    for (const set of sets) {
      let rules = ''
      for (const topK of options.top.split(',').map(Number)) {
        const sent = await holdWith(service, set, topK)
        tell(set, `Repartee, topK ${topK}`, sent)
        rules = sent[0]!.prompt[0]!.content
      }
      for (const peer of options.alone ? [] : peers) {
        const base = new PeerBase(peer, set.documents)
        tell(
          set,
          peer.name,
          set.talks.flatMap((talk) => workOut(talk, base, rules)),
        )
        base.close()
      }
    }
  }
} finally {
  await service.stop()
}
tellEqualShares()
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(rows, null, 2)}\n`)

/** Returns a set with all its conversations in one session. */
function asOne(set: TalkSet): TalkSet {
  return { ...set, name: `${set.name}, one session`, talks: [set.talks.flat()] }
}

async function holdWith({ client, model, newAgent, newSession }: Service, set: TalkSet, topK: number): Promise<Sent[]> {
  const agent = await newAgent({ instructions: INSTRUCTIONS, retrieval: { topK } })
  for (const { title, text } of set.documents) {
    const given = set.name === 'product-docs' ? { markdown: text } : { text }
    const { status } = await client.post(`/agents/${agent}/documents`, { ...(title ? { title } : {}), ...given })
    if (status !== 202) throw new Error(`a document was refused: ${status}`)
  }
  const howMany = async (status: string): Promise<number> =>
    (await client.get(`/agents/${agent}/documents?status=${status}&limit=1`)).body.pagination.total
  await until('no document waits', async () => (await howMany('queued')) + (await howMany('processing')) === 0)
  if ((await howMany('failed')) > 0) throw new Error('a document could not be read')
  const all: Sent[] = []
  for (const talk of set.talks) {
    const session = await newSession(agent)
    let before: PromptMessage[] = []
    for (const turn of talk) {
      model.calls.length = 0
      model.behaviour = (call, response) => says(saidTo(call, turn))(call, response)
      const { status, text } = await client.post(`${session}/messages`, { message: turn.message })
      if (status !== 200) throw new Error(`a message was refused: ${status} ${text}`)
      const prompts = model.calls.map(promptOf)
      const prompt = prompts.find((sent) => !isBeside(sent))!
      const beside = prompts.filter((sent) => sent !== prompt).reduce((sum, sent) => sum + promptTokens(sent), 0)
      all.push({ turn, prompt, before, beside })
      before = prompt
    }
  }
  return all
}

function promptOf({ messages }: ModelCall): PromptMessage[] {
  return messages.map(({ role, content }) => ({ role: role as PromptMessage['role'], content }))
}

function isBeside([first]: PromptMessage[]): boolean {
  return /^(?:Rewrite|Sum up)/.test(first!.content)
}

/** Returns the collection's reply or rewritten question. Without a rewrite, returns the original question. */
function saidTo({ messages }: ModelCall, turn: TalkTurn): string {
  if (messages[0]!.content.startsWith('Rewrite')) return turn.rewrite ?? turn.message
  if (messages[0]!.content.startsWith('Sum up')) return messages.at(-1)!.content.slice(0, 1_500)
  return turn.reply
}

function workOut(talk: readonly TalkTurn[], base: PeerBase, rules: string): Sent[] {
  const history: HistoryEntry[] = []
  let before: PromptMessage[] = []
  return talk.map((turn) => {
    const prompt = base.prompt(rules, history, turn.message)
    const sent = { turn, prompt, before, beside: 0 }
    before = prompt
    history.push({ role: 'USER', content: turn.message }, { role: 'AI', content: turn.reply })
    return sent
  })
}

function tell({ name }: TalkSet, system: string, all: readonly Sent[]): void {
  const asked = all.filter(({ turn }) => turn.evidence !== undefined)
  const held = asked.map(({ turn, prompt }) => {
    const text = squeezed(prompt.map(({ content }) => content).join('\n'))
    return mean(turn.evidence!.map((sentence) => (text.includes(sentence) ? 1 : 0)))
  })
  const tokens = mean(asked.map(({ prompt, beside }) => promptTokens(prompt) + beside))
  const cached = mean(asked.map(({ prompt, before }) => cachedTokens(prompt, before)))
  const row = {
    set: name,
    system,
    turns: asked.length,
    held: mean(held),
    tokens,
    beside: mean(asked.map(({ beside }) => beside)),
    cached: cached / tokens,
  }
  if (rows.length === 0) console.log('set | system | turns | evidence held | tokens a turn | of these beside the reply | cached')
  rows.push(row)
  const { turns, beside } = row
  console.log(
    [name, system, turns, row.held.toFixed(3), Math.round(tokens), Math.round(beside), row.cached.toFixed(3)].join(' | '),
  )
}

/** Prints the tokens that Repartee needs for the same share of evidence as each other system, by linear interpolation. */
function tellEqualShares(): void {
  console.log('\nset | system | tokens a turn | of Repartee, for an equal share | ratio')
  for (const [set, all] of Map.groupBy(rows, (row) => row.set)) {
    const curve = all.filter(({ system }) => system.startsWith('Repartee')).sort((a, b) => a.tokens - b.tokens)
    for (const { system, held, tokens } of all.filter((row) => !curve.includes(row))) {
      const at = curve.findIndex((row) => row.held >= held)
      if (at < 1) continue
      const [low, high] = [curve[at - 1]!, curve[at]!]
      const own = low.tokens + ((high.tokens - low.tokens) * (held - low.held)) / (high.held - low.held)
      console.log([set, system, Math.round(tokens), Math.round(own), (own / tokens).toFixed(2)].join(' | '))
    }
  }
}

/** Returns the tokens of the beginning that two prompts share, as providers count them. */
function cachedTokens(prompt: PromptMessage[], before: PromptMessage[]): number {
  const [now, then] = [prompt, before].map((messages) => messages.map(({ role, content }) => `${role}\n${content}\n`).join(''))
  let end = 0
  while (end < now!.length && now![end] === then![end]) end++
  const shared = estimateTokens(now!.slice(0, end))
  return shared < CACHED_FROM ? 0 : shared - (shared % CACHED_STEP)
}
