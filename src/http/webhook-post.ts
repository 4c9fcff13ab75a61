import { createHmac } from 'node:crypto'
import { toIso } from '../core/time.ts'
import { type Delivery, TEST_EVENT, type Webhook } from '../core/webhook.ts'
import type { Posted } from '../events/webhook-worker.ts'
import { FetchError } from '../net/fetch-error.ts'
import type { FetchRules } from '../net/guarded-fetch.ts'
import { guardedPost } from '../net/guarded-post.ts'
import { findAgent } from '../store/tables/agents.ts'
import { findMessage, findMessageAt, type WholeMessage } from '../store/tables/messages.ts'
import { findSession } from '../store/tables/sessions.ts'
import type { FailureDetail } from '../turns/fail-turn.ts'
import { detailOf } from '../turns/read-message.ts'
import type { Deps } from './deps.ts'
import { toDocument } from './documents.ts'
import { toCreated } from './sessions.ts'
import { toMessage } from './turns/answer.ts'

type ReadDeps = Pick<Deps, 'db' | 'knowledge'>

/** Returns the payload of an event with current data, in the format of API responses; undefined if its subject was deleted. */
export async function webhookBody(deps: ReadDeps, delivery: Delivery): Promise<string | undefined> {
  const data = await dataOf(deps, delivery)
  if (data === undefined) return undefined
  return JSON.stringify({ type: delivery.event, timestamp: toIso(delivery.createdAt), data })
}

async function dataOf(deps: ReadDeps, { event, agentId, sessionId, target }: Delivery): Promise<object | undefined> {
  switch (event) {
    case TEST_EVENT:
      return { message: 'This webhook works.' }
    case 'session.deleted':
      return { agentId, sessionId: target }
    case 'document.ready':
    case 'document.failed': {
      const document = await deps.knowledge.findDocument(agentId, target)
      return document && { agentId, document: toDocument(document) }
    }
    default: {
      const [agent, session] = await Promise.all([findAgent(deps.db, agentId), findSession(deps.db, agentId, sessionId)])
      if (agent === undefined || session === undefined) return undefined
      const about = { agentId, session: toCreated(session) }
      if (event === 'session.created') return about
      const turn = await turnOf(deps, agentId, sessionId, target)
      return turn && { ...about, ...turn }
    }
  }
}

/** Returns the reply with the message that it answers, or the message whose turn failed, with the error. */
async function turnOf({ db }: ReadDeps, agentId: string, sessionId: string, messageId: string): Promise<object | undefined> {
  const message = await findMessage(db, agentId, sessionId, messageId)
  if (message === undefined) return undefined
  if (message.role === 'USER') return { userMessage: toMessage(message), error: failureOf(message) }
  const question = await findMessageAt(db, agentId, sessionId, message.seq - 1)
  const { sources = [], followUps } = detailOf(message)
  return {
    userMessage: question?.role === 'USER' ? toMessage(question) : null,
    aiMessage: toMessage(message),
    sources,
    ...(followUps === undefined ? {} : { followUps }),
  }
}

/** Returns null if the message was retried in the meantime. */
function failureOf({ turn, detail }: WholeMessage): object | null {
  if (turn !== 'failed') return null
  return detail === null ? CUT_OFF : (JSON.parse(detail) as FailureDetail).error
}

const CUT_OFF = { code: 'unavailable', message: 'The turn was cut off, because the process that ran it ended.' }

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
export async function postWebhook(
  rules: FetchRules,
  { url, secret }: Webhook,
  { id }: Delivery,
  body: string,
  now: number,
  signal: AbortSignal,
): Promise<Posted> {
  const timestamp = String(Math.floor(now / 1_000))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
  try {
    return { status: await guardedPost(rules, { url, headers, body, signal }) }
  } catch (error) {
    return { failed: error instanceof FetchError ? error.message : 'could not be reached' }
  }
}
