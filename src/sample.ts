import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
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

const DOCS = new URL('../docs/', import.meta.url)
/** Tells that the sample was made, so that one who deletes it is not given another. */
const MARK = 'sample.json'
const READY_WITHIN_MS = 20_000
const LOOK_EVERY_MS = 25

/** Makes the sample at the first start and waits until it can answer. Undefined where it was deleted since. */
export async function ensureSample(deps: Deps, folder: string): Promise<Sample | undefined> {
  const mark = join(folder, MARK)
  if (existsSync(mark)) {
    const { agentId, sessionId } = JSON.parse(readFileSync(mark, 'utf8')) as Sample
    if ((await findAgent(deps.db, agentId)) === undefined) return undefined
    if ((await findSession(deps.db, agentId, sessionId)) !== undefined) return { agentId, sessionId }
    const session = await createSession(deps, agentId, { name: 'Try it' })
    return { agentId, sessionId: session.id }
  }
  const agent = await createAgent(deps, {
    name: 'Sample: the documentation of Repartee',
    greeting: 'Ask me about Repartee.',
    starters: ['How do I add my own documents?', 'Which models can I use?', 'What happens when the model fails?'],
    followUps: { enabled: true },
  })
  const session = await createSession(deps, agent.id, { name: 'Try it' })
  writeFileSync(mark, `${JSON.stringify({ agentId: agent.id, sessionId: session.id } satisfies Sample)}\n`)
  const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  await Promise.all(
    files.map((filename) => {
      const content = readFileSync(new URL(filename, DOCS))
      return deps.knowledge.addDocument(agent.id, {
        source: { type: 'file', filename },
        mediaType: 'text/markdown',
        content,
        metadata: {},
      })
    }),
  )
  await untilIndexed(deps, agent.id)
  return { agentId: agent.id, sessionId: session.id }
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
