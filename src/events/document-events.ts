import { createHash } from 'node:crypto'
import type { Document } from '../core/document.ts'
import { nextSlice } from '../core/fairness/pacer.ts'
import type { Knowledge } from '../core/ports/knowledge.ts'
import type { Clock } from '../core/ports/ports.ts'
import type { Database } from '../store/database.ts'
import { type AgentHead, listAgentHeads } from '../store/tables/agents.ts'
import { queueEvent } from '../store/tables/deliveries.ts'
import type { Background } from './background.ts'
import type { WebhookCache } from './webhook-cache.ts'
import type { WebhookWorker } from './webhook-worker.ts'

interface NewsDeps {
  db: Database
  knowledge: Knowledge
  webhooks: WebhookCache
  webhookWorker: WebhookWorker
  background: Background
  clock: Clock
}

const AT_ONCE = 200
const AGENTS_AT_ONCE = 100
/** The owner name for slices. */
const NEWS = 'document news'

/**
 * Moves document events from the outboxes of knowledge bases to the webhook queue. A knowledge base stores an event together with the change.
 * The event is queued, then removed from the outbox. An interrupted move is repeated with the same ids, which are queued only once.
 */
export class DocumentEvents {
  readonly #deps: NewsDeps
  readonly #due = new Set<string>()

  constructor(deps: NewsDeps) {
    this.#deps = deps
  }

  /** Must be called when documents of an agent may have become ready or failed. */
  wake(agentId: string): void {
    this.#due.add(agentId)
    this.#deps.background.runOnce('news', 'news of documents could not be put down for webhooks', () => this.#work())
  }

  /** Checks all agents for events from times without webhooks, and for interrupted moves. */
  async wakeAll(): Promise<void> {
    if (!(await this.#isWanted())) return
    let last: AgentHead | undefined
    for (;;) {
      const agents = await listAgentHeads(this.#deps.db, last, AGENTS_AT_ONCE)
      for (const { id } of agents) await this.#tell(id)
      if (agents.length < AGENTS_AT_ONCE) return
      last = agents.at(-1)
      await nextSlice(NEWS)
    }
  }

  async #work(): Promise<void> {
    if (!(await this.#isWanted())) this.#due.clear()
    for (const agentId of this.#due) {
      this.#due.delete(agentId)
      try {
        await this.#tell(agentId)
      } catch (error) {
        // The agent is retried with the next event of any agent.
        this.#due.add(agentId)
        throw error
      }
    }
  }

  async #isWanted(): Promise<boolean> {
    return (await this.#deps.webhooks.list()).some(({ events }) => events.some((event) => event.startsWith('document.')))
  }

  async #tell(agentId: string): Promise<void> {
    const { db, knowledge, clock, webhookWorker } = this.#deps
    for (;;) {
      const documents = await knowledge.listDocumentEvents(agentId, AT_ONCE)
      if (documents.length === 0) return
      const now = clock()
      await db.write(
        documents.map((document) => {
          const event = document.status === 'failed' ? 'document.failed' : 'document.ready'
          return queueEvent(idOf(document), { event, agentId, sessionId: '', target: document.id }, now, document.updatedAt)
        }),
      )
      await knowledge.deleteDocumentEvents(
        agentId,
        documents.map(({ id, updatedAt }) => ({ id, updatedAt })),
      )
      webhookWorker.wake()
    }
  }
}

/** Returns the same id for the same event: a UUID of version 7 with its time, as for other events. */
function idOf({ id, status, updatedAt }: Document): string {
  const hash = createHash('sha256').update(`${id}/${status}/${updatedAt}`).digest('hex')
  const time = updatedAt.toString(16).padStart(12, '0')
  const variant = ((Number.parseInt(hash[3]!, 16) & 3) | 8).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`
}
