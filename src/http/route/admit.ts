import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Agent } from '../../core/agent.ts'
import { type ApiKey, callerIdOf, type Scope } from '../../core/api-key.ts'
import { agentNotFound, ReparteeError, sessionNotFound } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import { callerAddress, networkOf } from '../../net/address.ts'
import { findSession } from '../../store/tables/sessions.ts'
import type { Deps } from '../deps.ts'
import { readKey } from './credentials.ts'
import { keepAddressRate, keepRate } from './rate-limit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route calls `admit`. All others take the turns of callers without a good key. */
    isAdmitting?: boolean
  }
  interface FastifyRequest {
    /** The round of `FairEntry` in which it was admitted. */
    enteredIn?: number
  }
}

/** The owner of the turns of all callers without a good key: together they have as many as one key. */
export const NOBODY = ''
/** The owner of the turns of health checks. A flood of other requests must not delay them, because a load balancer would take the process out. */
export const HEALTH_CHECKS = 'health checks'

/** Whose request it may be. */
export interface Gate {
  /** One of these is enough; `admin` always is. */
  scopes: readonly Scope[]
  /** A token of a user may make it, too, about the user's own sessions. */
  forUsers?: boolean | undefined
  /** It is about one agent, which the key must see. */
  isOfAgent: boolean
}

/**
 * Lets a caller in: by a key that is good, from a page that may use it, and not too often. `ahead` as `catchUp` of `KeyCache.identify`. Throws
 * `unauthorized`, `forbidden` or `rate_limited`.
 */
export async function admit(
  app: FastifyInstance,
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  ahead?: () => Promise<unknown>,
): Promise<ApiKey> {
  const key = await identify(deps, request, ahead)
  request.caller = key
  const { rates } = deps
  const turn = app.fairEntry.enter(callerIdOf(key))
  if (turn !== undefined) await turn
  if (rates !== undefined && !deps.keys.isOwn(key)) await keepRate(reply, 'key', rates.key, callerIdOf(key))
  if (key.userId !== undefined && !(await app.allowedOrigins.allows(request.raw)))
    throw new ReparteeError('forbidden', 'Pages of this origin may not use tokens here.')
  request.enteredIn = app.fairEntry.round
  return key
}

/**
 * Call it when the body of a request has come. Returns undefined if work may begin at once, else resolves when it may: a request whose body came later than its head waits
 * for its turn again, because thousands may get their last byte at the same time.
 */
export function admitBody({ server: app, caller, enteredIn }: FastifyRequest, units = 1): Promise<void> | undefined {
  const isAdmitted = units <= 1 && enteredIn === app.fairEntry.round
  return caller === undefined || isAdmitted ? undefined : app.fairEntry.enter(callerIdOf(caller), units)
}

/** Throws `unauthorized`, or `rate_limited` where that comes from one address too often. */
async function identify(
  { keys, rates }: Deps,
  request: FastifyRequest,
  ahead: (() => Promise<unknown>) | undefined,
): Promise<ApiKey> {
  try {
    return await keys.identify(readKey(request.raw), ahead)
  } catch (error) {
    const isBadKey = error instanceof ReparteeError && error.code === 'unauthorized'
    const turn = request.server.fairEntry.enter(NOBODY)
    if (turn !== undefined) await turn
    if (isBadKey && rates !== undefined) await keepAddressRate(rates.address, networkOf(addressOf(request) ?? ''))
    throw error
  }
}

export const addressOf = ({ ip, raw }: FastifyRequest): string | undefined => callerAddress(ip, raw.socket.remoteAddress)

/** Throws `forbidden` where a key is not good for what it is used for. */
export function checkScope({ scopes, forUsers = false, isOfAgent }: Gate, key: ApiKey): void {
  if (key.userId !== undefined && !forUsers)
    throw new ReparteeError('forbidden', 'A token of a user is not good for this operation.')
  if (key.scopes.includes('admin')) {
    // A key that is bound to agents could otherwise make itself one that is not.
    if (key.agentIds === null || isOfAgent || scopes.includes('read')) return
  } else if (scopes.some((scope) => key.scopes.includes(scope))) return
  throw new ReparteeError('forbidden', 'This key lacks the scope for this operation.')
}

/** The agent, as far as the key may see it. Throws `agent_not_found`. */
export async function getAgentFor(deps: Deps, key: ApiKey, agentId: string): Promise<Agent> {
  if (key.agentIds?.includes(agentId) === false) throw agentNotFound()
  return deps.agents.get(agentId)
}

/** The session of an agent that the key sees, as far as the key may see it. `read` where it is read already. Throws `session_not_found`. */
export async function getSessionFor(
  deps: Deps,
  key: ApiKey,
  agentId: string,
  sessionId: string,
  read?: () => Promise<Session | undefined>,
): Promise<Session> {
  const session = read === undefined ? await findSession(deps.db, agentId, sessionId) : await read()
  if (session === undefined || (key.userId ?? session.userId) !== session.userId) throw sessionNotFound()
  return session
}

/** One more message of an end user, or more of them at once. Throws `rate_limited`. */
export async function keepUserRate(
  { rates }: Deps,
  reply: FastifyReply,
  { agentId, userId }: Pick<Session, 'agentId' | 'userId'>,
  messages = 1,
): Promise<void> {
  if (rates !== undefined) await keepRate(reply, 'user', rates.user, `${agentId}/${userId}`, messages)
}

/** What somebody with a token makes for themselves counts as a message, and so does each message that it begins with. Throws `rate_limited`. */
export async function keepTokenRate(
  deps: Deps,
  reply: FastifyReply,
  { userId }: ApiKey,
  agentId: string,
  messages = 0,
): Promise<void> {
  if (userId !== undefined) await keepUserRate(deps, reply, { agentId, userId }, 1 + messages)
}
