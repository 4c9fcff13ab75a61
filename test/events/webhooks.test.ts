// What becomes of news while the database is away, or while others are being delivered
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { Background } from '../../src/events/background.ts'
import { DocumentEvents } from '../../src/events/document-events.ts'
import { WebhookCache } from '../../src/events/webhook-cache.ts'
import { WebhookWorker } from '../../src/events/webhook-worker.ts'
import { until } from '../support/poll.ts'

type NewsDeps = ConstructorParameters<typeof DocumentEvents>[0]
/** All that can be done without waiting. */
const done = () => new Promise(setImmediate)
const A_WAKE_MS = 100
type BookDatabase = ConstructorParameters<typeof WebhookCache>[0]
type WebhookWorkerParts = ConstructorParameters<typeof WebhookWorker>[0]

test('news of documents that could not be put down are put down with the next', async () => {
  const warnings: string[] = []
  const news = new Map(['one', 'two'].map((agentId) => [agentId, [{ id: agentId, status: 'ready', updatedAt: 1 }]]))
  let isAway = true
  const told: string[] = []
  const deps = {
    webhooks: { list: async () => [{ events: ['document.ready'] }] },
    knowledge: {
      listDocumentEvents: async (agentId: string) => news.get(agentId) ?? [],
      deleteDocumentEvents: async (agentId: string) => void news.delete(agentId),
    },
    db: {
      async write(statements: { params: unknown[] }[]) {
        if (isAway) throw new Error('away')
        told.push(...statements.map(({ params }) => String(params[0])))
      },
    },
    background: new Background((about) => warnings.push(about)),
    webhookWorker: { wake() {} },
    clock: () => 1,
  }
  const documentEvents = new DocumentEvents(deps as unknown as NewsDeps)
  documentEvents.wake('one')
  await until('it failed', () => warnings.length === 1)
  isAway = false
  documentEvents.wake('two')
  await until('both are told', () => told.length === 2)
  assert.deepEqual(told.sort(), ['one', 'two'])
  await deps.background.close()
})

test('what is queued while deliveries are looked for is found at once, and not a second later', async () => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  let looked = 0
  let goOn = () => {}
  const parts = {
    webhooks: { list: async () => [{ id: 'a', disabledAt: null }], onQueued() {} },
    db: {
      read: async () => {
        looked++
        await new Promise<void>((resolve) => {
          goOn = resolve
        })
        return []
      },
    },
    clock: () => 1,
    warn: assert.fail,
  }
  const webhookWorker = new WebhookWorker(parts as unknown as WebhookWorkerParts)
  try {
    webhookWorker.start()
    await done()
    webhookWorker.wake()
    mock.timers.tick(A_WAKE_MS)
    await done()
    assert.equal(looked, 1)
    goOn()
    await done()
    mock.timers.tick(A_WAKE_MS)
    await done()
    assert.equal(looked, 2)
  } finally {
    mock.timers.reset()
    const closed = webhookWorker.close()
    goOn()
    await closed
  }
})

test('a send of an agent that no webhook is told of writes nothing for them, once they are known', async () => {
  const row = {
    ...{ id: 'a', url: 'http://a.example/', secret: '', created_at: 1, disabled_at: null },
    ...{ events: '["message.completed"]', agent_ids: '["mine"]' },
  }
  const book = new WebhookCache({ read: async () => [row] } as unknown as BookDatabase, Date.now, () => 'id')
  const statements = (agentId: string, event: 'message.completed' | 'turn.failed') =>
    book.queue({ event, agentId, sessionId: '', target: '' }).length
  assert.equal(statements('other', 'turn.failed'), 1)
  await book.list()
  assert.deepEqual(
    [statements('mine', 'message.completed'), statements('other', 'message.completed'), statements('mine', 'turn.failed')],
    [1, 0, 0],
  )
})
