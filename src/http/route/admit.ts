import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Agent } from '../../core/agent.ts'
import { type ApiKey, callerIdOf, type Scope } from '../../core/api-key.ts'
import { agentNotFound, ReparteeError, sessionNotFound } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import { callerAddress, networkOf } from '../../net/address.ts'
import { findSession } from '../../store/tables/sessions.ts'
import type { Deps } from '../deps.ts'
import { readKey } from './credentials.ts'
import { takeAddressRate, takeRate } from './rate-limit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route calls `admit`. Other routes share the turns of callers without a valid key. */
    isAdmitting?: boolean
  }
  interface FastifyRequest {
    /** The round of `FairEntry` in which the request was admitted. */
    enteredIn?: number
  }
}

/** Owner of the turns of all callers without a valid key: together they have as many as one key. */
export const NOBODY = ''
/** Owner of the turns of health checks. A flood of other requests must not delay them, because a load balancer would remove the process. */
export const HEALTH_CHECKS = 'health checks'

/** Requirements on the caller of an operation. */
export interface Gate {
  /** One of these is enough; so is `admin`. */
  scopes: readonly Scope[]
  /** A user token may call it too, for the user's own sessions. */
  forUsers?: boolean | undefined
  /** Whether it concerns one agent, which the key must be allowed to see. */
  isOfAgent: boolean
}

/**
 * Admits a caller with a valid key, from an allowed page, within its rate limit. `ahead`: as `catchUp` of `KeyCache.identify`. Throws `unauthorized`,
 * `forbidden` or `rate_limited`.
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
  if (rates !== undefined && !deps.keys.isOwn(key)) await takeRate(reply, 'key', rates.key, callerIdOf(key))
  if (key.userId !== undefined && !(await app.allowedOrigins.allows(request.raw)))
    throw new ReparteeError('forbidden', 'Pages of this origin may not use tokens here.')
  request.enteredIn = app.fairEntry.round
  return key
}

/**
 * Call it when the body of a request has arrived. Returns undefined if work may begin immediately, else resolves when it may. A request whose body arrived
 * after its head waits for its turn again: thousands may get their last byte at the same time.
 */
export function admitBody({ server: app, caller, enteredIn }: FastifyRequest, units = 1): Promise<void> | undefined {
  const isAdmitted = units <= 1 && enteredIn === app.fairEntry.round
  return caller === undefined || isAdmitted ? undefined : app.fairEntry.enter(callerIdOf(caller), units)
}

/** Returns the caller's key. Throws `unauthorized`, or `rate_limited` if one address causes that too often. */
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
    if (isBadKey && rates !== undefined) await takeAddressRate(rates.address, networkOf(addressOf(request) ?? ''))
    throw error
  }
}

export const addressOf = ({ ip, raw }: FastifyRequest): string | undefined => callerAddress(ip, raw.socket.remoteAddress)

/** Throws `forbidden` if the key does not have the required permission. */
export function checkScope({ scopes, forUsers = false, isOfAgent }: Gate, key: ApiKey): void {
  if (key.userId !== undefined && !forUsers)
    throw new ReparteeError('forbidden', 'A token of a user is not good for this operation.')
  if (key.scopes.includes('admin')) {
    // A key that is limited to agents could otherwise create an unlimited key.
    if (key.agentIds === null || isOfAgent || scopes.includes('read')) return
  } else if (scopes.some((scope) => key.scopes.includes(scope))) return
  throw new ReparteeError('forbidden', 'This key lacks the scope for this operation.')
}

/** Returns the agent. Throws `agent_not_found` if the key may not see it. */
export async function getAgentFor(deps: Deps, key: ApiKey, agentId: string): Promise<Agent> {
  if (key.agentIds?.includes(agentId) === false) throw agentNotFound()
  return deps.agents.get(agentId)
}

/** Returns a session of an agent. Throws `session_not_found` if the key may not see it. `read`: returns the session if it was read ahead. */
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

/** Counts one or more messages of an end user. Throws `rate_limited`. */
export async function takeUserRate(
  { rates }: Deps,
  reply: FastifyReply,
  { agentId, userId }: Pick<Session, 'agentId' | 'userId'>,
  messages = 1,
): Promise<void> {
  if (rates !== undefined) await takeRate(reply, 'user', rates.user, `${agentId}/${userId}`, messages)
}

/** Counts a session that a user token creates as one message, plus one for each message that it begins with. Throws `rate_limited`. */
export async function takeTokenRate(
  deps: Deps,
  reply: FastifyReply,
  { userId }: ApiKey,
  agentId: string,
  messages = 0,
): Promise<void> {
  if (userId !== undefined) await takeUserRate(deps, reply, { agentId, userId }, 1 + messages)
}
