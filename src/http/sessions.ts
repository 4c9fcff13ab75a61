import type { FastifyInstance } from 'fastify'
import type { Contract } from '../api/contract.ts'
import type { ResponseOf } from '../api/operation.ts'
import type { ApiKey } from '../core/api-key.ts'
import { ReparteeError, sessionNotFound } from '../core/errors.ts'
import type { Message } from '../core/message.ts'
import { pageLimit } from '../core/ports/limits.ts'
import type { Session } from '../core/session.ts'
import { toIso } from '../core/time.ts'
import { timeAgo } from '../reply/time-ago.ts'
import { historySlices } from '../sessions/message-slices.ts'
import { searchSessions } from '../sessions/search-sessions.ts'
import { createSession, deleteSession, importSession, renameSession } from '../sessions/sessions.ts'
import {
  countSessions,
  listSessions,
  type SessionFilter,
  type SessionPosition,
  type Slicing,
  streamSessions,
} from '../store/tables/sessions.ts'
import type { Deps } from './deps.ts'
import { SLICE_ROWS, scarceJsonStream } from './json/json-stream.ts'
import { answerList } from './json/list-answer.ts'
import { takeTokenRate } from './route/admit.ts'
import { checkText } from './route/body.ts'
import { type Call, route } from './route/route.ts'
import { importInTurn } from './server/import-places.ts'
import { slicingFor } from './server/slicing.ts'
import { toMessage } from './turns/answer.ts'

export const toCreated = ({ id, name, userId, createdAt }: Session) => ({
  id,
  name,
  userSessionId: userId,
  createdAt: toIso(createdAt),
})

type Listed = ResponseOf<Contract['listSessions']>['sessions'][number]
const toListed = (s: Session, now: number): Listed => ({
  id: s.id,
  name: s.name,
  userSessionId: s.userId,
  totalMessages: s.totalMessages,
  lastMessageAt: toIso(s.lastMessageAt),
  timeAgo: timeAgo(s.lastMessageAt, now),
  createdAt: toIso(s.createdAt),
})

export function sessionRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  route(app, deps, contract.createSession, async ({ agent, body, keep, key, reply }) => {
    await takeTokenRate(deps, reply, key, agent.id)
    const alongside = (made: Session) => keep({ session: toCreated(made) }, made.id)
    const externalUserId = userOf(key, body.externalUserId)
    return { session: toCreated(await createSession(deps, agent.id, { ...body, externalUserId }, alongside)) }
  })

  route(app, deps, contract.importSession, async ({ agent, body, keep, request, reply }) => {
    const alongside = (made: Session) => keep({ session: toCreated(made) }, made.id)
    const work = () => importSession(deps, agent.id, body, body.messages, alongside)
    return { session: toCreated(await importInTurn({ request, reply, agentId: agent.id }, body.messages.length, work)) }
  })

  route(app, deps, contract.listSessions, async (call) => {
    const filter = toFilter(call)
    const { q, limit = pageLimit.default, cursor } = call.query
    const now = deps.clock()
    if (q !== undefined) {
      checkText('query.q', q)
      await app.scanPlaces.take(call.request, call.reply, call.agent.id)
    }
    const isWhole = call.query.limit === undefined && cursor === undefined
    if (isWhole) {
      await app.listPlaces.take(call.request, call.reply, call.agent.id)
    }
    const slicing = slicingFor(call.request, call.key)
    if (!slicing.isWanted()) {
      call.reply.hijack()
      return undefined
    }
    if (isWhole) {
      const slices = q === undefined ? streamSessions(deps.db, filter, SLICE_ROWS) : searchSessions(deps, filter, q, slicing)
      const [head, tail] = ['{"success":true,"sessions":[', ']}']
      const toItem = (s: Session) => toListed(s, now)
      const othersWait = () => (q === undefined ? app.listPlaces.isWaitedForBeside(call.key) : app.scanPlaces.isWaitedFor)
      return scarceJsonStream({ head, slices, toItem, tail, owner: slicing.owner }, deps.limits.listReadMs, othersWait)
    }
    const after = cursor === undefined ? undefined : readCursor(cursor)
    const page =
      q === undefined
        ? await readPage(deps, filter, after, limit, slicing)
        : await searchPage(searchSessions(deps, filter, q, slicing), after, limit)
    const last = page.items.at(-1)
    return {
      sessions: page.items.map((s) => toListed(s, now)),
      pagination: { hasMore: page.hasMore, nextCursor: page.hasMore && last ? toCursor(last) : null, total: page.total },
    }
  })

  route(app, deps, contract.getSession, async ({ session, request, reply, key }) => {
    const head = JSON.stringify({
      success: true,
      session: { id: session.id, name: session.name, createdAt: toIso(session.createdAt) },
    })
    return answerList(
      { request, reply },
      {
        head: `${head.slice(0, -1)},"messages":[`,
        slices: historySlices(deps.db, session, slicingFor(request, key)),
        toItem: toMessage satisfies (message: Message) => ResponseOf<Contract['getSession']>['messages'][number],
        tail: ']}',
      },
    )
  })

  route(app, deps, contract.updateSession, async ({ session, body }) => {
    const { id, name, updatedAt } = await renameSession(deps, session, body.name)
    return { session: { id, name, updatedAt: toIso(updatedAt) } }
  })

  route(app, deps, contract.deleteSession, async ({ session }) => {
    await deleteSession(deps, session)
    return { message: 'The session and all its messages were deleted.' }
  })
}

/** Returns the user to filter by. Throws `session_not_found` if a user token names another user. */
function userOf({ userId }: ApiKey, named: string | undefined): string | undefined {
  if (userId !== undefined && named !== undefined && named.toLowerCase() !== userId) throw sessionNotFound()
  return userId ?? named
}

function toFilter({ agent, query, key }: Call<Contract['listSessions']>): SessionFilter {
  const { from, to } = query
  const externalUserId = userOf(key, query.externalUserId)
  return {
    agentId: agent.id,
    ...(externalUserId === undefined ? {} : { userId: externalUserId.toLowerCase() }),
    ...(from === undefined ? {} : { from: Date.parse(from) }),
    ...(to === undefined ? {} : { to: Date.parse(to) }),
  }
}

async function readPage(deps: Deps, filter: SessionFilter, after: SessionPosition | undefined, limit: number, slicing: Slicing) {
  const [items, total] = await Promise.all([
    listSessions(deps.db, filter, after, limit + 1),
    countSessions(deps.db, filter, slicing),
  ])
  return { items: items.slice(0, limit), hasMore: items.length > limit, total }
}

async function searchPage(found: AsyncIterable<Session[]>, after: SessionPosition | undefined, limit: number) {
  const items: Session[] = []
  let total = 0
  for await (const slice of found) {
    total += slice.length
    for (const session of slice)
      if (items.length <= limit && (after === undefined || isBehind(session, after))) items.push(session)
  }
  return { items: items.slice(0, limit), hasMore: items.length > limit, total }
}

const isBehind = (s: Session, { lastMessageAt, id }: SessionPosition) =>
  s.lastMessageAt < lastMessageAt || (s.lastMessageAt === lastMessageAt && s.id < id)

/** Encodes a position and not a session, so the cursor stays valid when the session moves or is deleted. */
const toCursor = ({ lastMessageAt, id }: SessionPosition): string => Buffer.from(`${lastMessageAt} ${id}`).toString('base64url')

function readCursor(cursor: string): SessionPosition {
  const [, time, id] = /^(-?\d{1,16}) ([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  if (time === undefined || id === undefined) throw invalidCursor()
  return { lastMessageAt: Number(time), id }
}

const invalidCursor = () =>
  new ReparteeError('invalid_cursor', 'query.cursor is not a cursor of this list', {
    details: [{ path: 'query.cursor', message: 'must be `nextCursor` of a page of this list' }],
  })
