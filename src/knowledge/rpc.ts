import type { MessagePort } from 'node:worker_threads'
import { type ErrorCode, type ErrorDetail, ReparteeError } from '../core/errors.ts'
import { InTurn } from '../core/fairness/in-turn.ts'
import { Shares } from '../core/fairness/shares.ts'
import { TurnShares } from '../core/fairness/turn-shares.ts'
import { NotYet } from '../store/knowledge/reader/filters.ts'
import { DamagedFile } from '../store/sqlite/damaged.ts'
import { isTransient } from '../store/transient.ts'

/** Methods that a worker thread offers. Arguments and results are copied between threads. */
// biome-ignore lint/suspicious/noExplicitAny: any function may be offered
export type Methods = Record<string, (...args: any[]) => unknown>

export interface RpcRequest {
  id: number
  method: string
  args: unknown[]
}

/** Reports to a thread that serves in turn how many more of its answers were handled. */
export interface Handled {
  handled: number
}

/** A message from a thread: the answer to a call, or an event about an agent or for the log. */
export type Response = { id: number; value: unknown } | { id: number; error: SentError } | ThreadEvent
export type ThreadEvent =
  | { event: string }
  | { ended: 'ready' | 'failed' }
  | { ingesting: number }
  | { warning: string; error: SentCause }

/** The fields of an error. Its class is lost between threads. */
export interface SentError {
  code: ErrorCode
  message: string
  details: ErrorDetail[] | undefined
  retryAfter: number | undefined
  /** Cause of an unexpected failure: for the log, not for callers. */
  cause: SentCause | undefined
}

export interface SentCause {
  name: string
  code: string | undefined
  message: string
  stack: string | undefined
}

export function toSentError(error: unknown): SentError {
  if (error instanceof ReparteeError) {
    const { code, message, details, retryAfter } = error
    return { code, message, details, retryAfter, cause: undefined }
  }
  const sent = { details: undefined, retryAfter: undefined, cause: toSentCause(error) }
  if (isTransient(error))
    return { ...sent, code: 'unavailable', message: 'The knowledge base is out of reach. Try again.', retryAfter: 1 }
  if (error instanceof DamagedFile)
    return {
      ...sent,
      code: 'internal_error',
      message: 'The knowledge base of this agent is damaged; the log of the service says which file, and what to do.',
    }
  return { ...sent, code: 'internal_error', message: 'The knowledge base failed.' }
}

export function toSentCause(error: unknown): SentCause {
  const { name, code, message, stack } = (error instanceof Error ? error : new Error(String(error))) as NodeJS.ErrnoException
  return { name, code, message, stack }
}

export function fromSentError({ code, message, details, retryAfter, cause }: SentError): ReparteeError {
  return new ReparteeError(code, message, {
    ...(details === undefined ? {} : { details }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(cause === undefined ? {} : { cause: fromSentCause(cause) }),
  })
}

export const fromSentCause = ({ message, ...fields }: SentCause): Error => Object.assign(new Error(message), fields)

/** Answers each request on the port with the method of that name. */
export function serve(port: MessagePort, methods: Methods): void {
  port.on('message', async (request: RpcRequest) => port.postMessage(await answer(methods, request)))
}

/** The most questions that wait for the database. `Shares` divides them among agents, and among the keys of an agent. */
const AT_ONCE = 16
/** The most answers that are not handled yet. Node delivers all messages of a port in one turn of the event loop, and nothing else runs in between. */
const UNHANDLED = 8
/** The most characters of answers that are not handled yet: fewer long answers are sent at a time. */
const UNHANDLED_CHARS = 262_144

/** Returns the agent of a question, and the key that asks if an argument contains it. */
function toSharer([agentId, ...others]: unknown[]) {
  const askedBy = others.map((input) => (input as { askedBy?: string } | undefined)?.askedBy).find((id) => id !== undefined)
  return { id: String(agentId), userId: askedBy }
}

/** Returns the queue of a question, as `key/agent`. A question without a key is in the queue of its agent. */
export function toLine(args: unknown[]): string {
  const { id, userId = id } = toSharer(args)
  return `${userId}/${id}`
}

/**
 * Answers requests as `serve` does, but in turns. The key that used the least time lately comes next, and among its agents, the one that used the least:
 * otherwise one key that asks many agents would delay all other keys. After `NotYet`, a question is asked again in a later turn. Pauses until the caller
 * has handled earlier answers.
 */
export function serveInTurn(port: MessagePort, methods: Methods): void {
  const waiting = new InTurn<RpcRequest>()
  const shares = new Shares(AT_ONCE)
  const used = new TurnShares()
  /** Characters of each answer that is not handled yet, in order. */
  let unhandled: number[] = []
  let isWorking = false
  const mayGo = (line: string) => shares.mayHave(toSharer(waiting.firstOf(line)!.args), 1)
  const takeNext = () => {
    if (unhandled.length >= UNHANDLED || unhandled.reduce((sum, chars) => sum + chars, 0) >= UNHANDLED_CHARS) return undefined
    const line = used.least([...waiting.owners()].filter(mayGo), performance.now())
    return line === undefined ? undefined : waiting.takeFrom(line)
  }
  const work = () => {
    const request = takeNext()
    isWorking = request !== undefined
    if (request === undefined) return
    void tryOnce(request)
    // Requests that arrived in the meantime are queued before the next one is chosen.
    setImmediate(work)
  }
  const wake = () => {
    if (isWorking) return
    isWorking = true
    setImmediate(work)
  }
  const add = (request: RpcRequest) => {
    waiting.add(toLine(request.args), request)
    wake()
  }
  const tryOnce = async (request: RpcRequest) => {
    const sharer = toSharer(request.args)
    const startedAt = performance.now()
    shares.take(sharer, 1)
    const response = await answer(methods, request)
    shares.give(sharer, 1)
    const now = performance.now()
    used.add(toLine(request.args), now - startedAt, now)
    if (response === undefined) add(request)
    else {
      unhandled.push(charsOf(response))
      port.postMessage(response)
    }
    if (!waiting.isEmpty) wake()
  }
  port.on('message', (message: RpcRequest | Handled) => {
    if (!('handled' in message)) return add(message)
    unhandled = unhandled.slice(message.handled)
    if (!waiting.isEmpty) wake()
  })
}

/** Returns the number of characters of all strings in a value. */
function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return 0
  let sum = 0
  for (const part of Object.values(value)) sum += charsOf(part)
  return sum
}

/** Resolves to undefined if the request must be asked again. */
async function answer(methods: Methods, { id, method, args }: RpcRequest): Promise<Response | undefined> {
  try {
    return { id, value: await methods[method]!(...args) }
  } catch (error) {
    return error instanceof NotYet ? undefined : { id, error: toSentError(error) }
  }
}
