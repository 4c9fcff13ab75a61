import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAgent } from './chat/agents.ts'
import type { Deps } from './chat/deps.ts'
import { createSession } from './chat/sessions.ts'
import { findAgent } from './store/agents.ts'
import { findSession } from './store/sessions.ts'

/** An agent that knows the product's own documentation, and a session to try it in. */
export interface Sample {
  agentId: string
  sessionId: string
}

/** What is remembered of the sample: that it was made, so that one who deletes it is not given another, and whether all of it was. */
interface Mark extends Sample {
  complete: boolean
}

const DOCS = new URL('../docs/', import.meta.url)
const MARK = 'sample.json'
const READY_WITHIN_MS = 20_000
const LOOK_EVERY_MS = 25

/** Makes the sample at the first start and waits until it can answer; one that a crash cut off is completed. Undefined where it was deleted since. */
export async function ensureSample(deps: Deps, folder: string): Promise<Sample | undefined> {
  const path = join(folder, MARK)
  const mark = readMark(path) ?? (await make(deps))
  const { agentId } = mark
  if ((await findAgent(deps.db, agentId)) === undefined) return undefined
  const isOpen = (await findSession(deps.db, agentId, mark.sessionId)) !== undefined
  const sessionId = isOpen ? mark.sessionId : (await createSession(deps, agentId, { name: 'Try it' })).id
  writeMark(path, { agentId, sessionId, complete: mark.complete })
  if (!mark.complete) {
    await addDocuments(deps, agentId)
    writeMark(path, { agentId, sessionId, complete: true })
    await untilIndexed(deps, agentId)
  }
  return { agentId, sessionId }
}

async function make(deps: Deps): Promise<Mark> {
  const agent = await createAgent(deps, {
    name: 'Sample: the documentation of Repartee',
    greeting: 'Ask me about Repartee.',
    starters: ['How do I add my own documents?', 'Which models can I use?', 'What happens when the model fails?'],
    followUps: { enabled: true },
  })
  const session = await createSession(deps, agent.id, { name: 'Try it' })
  return { agentId: agent.id, sessionId: session.id, complete: false }
}

function readMark(path: string): Mark | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Mark
  } catch {
    return undefined // none yet
  }
}

/** In one step: a crash leaves the mark before it, or this one. */
function writeMark(path: string, mark: Mark): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(mark)}\n`)
  renameSync(`${path}.new`, path)
}

/** Adding one that is there already changes nothing, so this may be done again. */
async function addDocuments({ knowledge }: Deps, agentId: string): Promise<void> {
  const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
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
