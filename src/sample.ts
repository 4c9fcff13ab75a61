import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createAgent } from './agents/agents.ts'
import type { Agent } from './core/agent.ts'
import type { Deps } from './http/deps.ts'
import { createSession } from './sessions/sessions.ts'
import { findAgent } from './store/tables/agents.ts'
import { changeSampleMark, findSampleMark, insertSampleMark, type SampleMark } from './store/tables/sample.ts'
import { findSession } from './store/tables/sessions.ts'

/** The sample agent, which knows the product's own documentation, and a session to try it in. */
export interface Sample {
  agentId: string
  sessionId: string
}

/** The sample's documents, except for the decision records, which are for engineers who change the code. */
const DOCS = new URL('../docs/', import.meta.url)
/** The file in which an earlier version marked the sample, in the data folder. */
const EARLIER_MARK = 'sample.json'
const READY_WITHIN_MS = 20_000
const LOOK_EVERY_MS = 25

/** Creates or completes the sample, and waits until it can answer. Undefined if it was deleted. */
export async function ensureSample(deps: Deps, folder: string): Promise<Sample | undefined> {
  const { db } = deps
  const mark = (await findSampleMark(db)) ?? (await takeEarlierMark(db, folder)) ?? (await make(deps))
  const { agentId } = mark
  if ((await findAgent(db, agentId)) === undefined) return undefined
  const isOpen = mark.sessionId !== '' && (await findSession(db, agentId, mark.sessionId)) !== undefined
  const sessionId = isOpen ? mark.sessionId : (await createSession(deps, agentId, { name: 'Try it' })).id
  if (!isOpen) await changeSampleMark(db, { ...mark, sessionId })
  if (!mark.isComplete) {
    await addDocuments(deps, agentId)
    await changeSampleMark(db, { agentId, sessionId, isComplete: true })
    await untilIndexed(deps, agentId)
  }
  return { agentId, sessionId }
}

async function make(deps: Deps): Promise<SampleMark> {
  const toMark = ({ id }: Agent): SampleMark => ({ agentId: id, sessionId: '', isComplete: false })
  const agent = {
    name: 'Sample: the documentation of Repartee',
    greeting: 'Ask me about Repartee.',
    starters: ['How do I add my own documents?', 'Which models can I use?', 'What happens when the model fails?'],
    followUps: { enabled: true },
  }
  try {
    return toMark(await createAgent(deps, agent, (made) => [insertSampleMark(toMark(made))]))
  } catch (error) {
    // Another process created the sample at the same time.
    const mark = await findSampleMark(deps.db)
    if (mark === undefined) throw error
    return mark
  }
}

async function takeEarlierMark(db: Deps['db'], folder: string): Promise<SampleMark | undefined> {
  const path = join(folder, EARLIER_MARK)
  if (!existsSync(path)) return undefined
  const { agentId, sessionId, complete } = JSON.parse(readFileSync(path, 'utf8')) as Sample & { complete: boolean }
  const mark = { agentId, sessionId, isComplete: complete }
  await db.write([insertSampleMark(mark)])
  rmSync(path)
  return mark
}

/** Adds the documents. Can be repeated, because adding an existing document changes nothing. */
async function addDocuments({ knowledge }: Deps, agentId: string): Promise<void> {
  const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.md') && !name.startsWith('decisions'),
  )
  await Promise.all(
    files.map((filename) => {
      const content = readFileSync(new URL(filename, DOCS))
      return knowledge.addDocument(agentId, {
        source: { type: 'file', filename },
        mediaType: 'text/markdown',
        content,
        metadata: {},
      })
    }),
  )
}

async function untilIndexed({ knowledge, clock }: Deps, agentId: string): Promise<void> {
  const limit = clock() + READY_WITHIN_MS
  while (clock() < limit) {
    const waiting = await Promise.all(
      (['queued', 'processing'] as const).map((status) => knowledge.listDocuments(agentId, { status, limit: 1 })),
    )
    if (waiting.every((page) => page?.total === 0)) return
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
