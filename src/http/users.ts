import type { FastifyInstance } from 'fastify'
import type { Contract } from '../api/contract.ts'
import { userNotFound } from '../core/errors.ts'
import { nextSlice } from '../core/fairness/pacer.ts'
import { pageLimit } from '../core/ports/limits.ts'
import { toIso } from '../core/time.ts'
import { type ExportedRow, eraseUser, exportUser } from '../sessions/users.ts'
import { listSessions } from '../store/tables/sessions.ts'
import { countUsers, listUsers } from '../store/tables/users.ts'
import type { Deps } from './deps.ts'
import { scarceStream } from './json/json-stream.ts'
import { route } from './route/route.ts'
import { slicingFor } from './server/slicing.ts'

const LINES = 'application/x-ndjson; charset=utf-8'
/** An export with at most this many sessions and characters is short. */
const SHORT_SESSIONS = 100
const SHORT_CHARS = 262_144

export function userRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  route(app, deps, contract.listUsers, async ({ agent, key, request, query }) => {
    const { cursor = '', limit = pageLimit.default } = query
    const slicing = slicingFor(request, key)
    const [found, total] = await Promise.all([
      listUsers(deps.db, agent.id, cursor.toLowerCase(), limit + 1, slicing),
      countUsers(deps.db, agent.id, slicing),
    ])
    const users = found.slice(0, limit)
    const hasMore = found.length > limit
    return {
      users: users.map(({ id, lastMessageAt, ...user }) => ({
        externalUserId: id,
        ...user,
        lastMessageAt: toIso(lastMessageAt),
      })),
      pagination: { hasMore, nextCursor: hasMore ? users.at(-1)!.id : null, total },
    }
  })

  route(app, deps, contract.exportUser, async ({ agent, params, reply, request, key }) => {
    const userId = params.externalUserId.toLowerCase()
    const sessions = await listSessions(deps.db, { agentId: agent.id, userId }, undefined, SHORT_SESSIONS + 1)
    if (sessions.length === 0) throw userNotFound()
    const slicing = slicingFor(request, key)
    const { owner, isWanted } = slicing
    const readLines = () => toLines(exportUser(deps, agent.id, userId, slicing), owner)
    if (sessions.length <= SHORT_SESSIONS) {
      const whole = await app.shortExportPlaces.within(request, reply, agent.id, () => joinShort(readLines()))
      if (whole !== undefined) {
        reply.type(LINES).send(whole)
        return undefined
      }
    }
    await app.exportPlaces.take(request, reply, agent.id)
    if (!isWanted()) {
      reply.hijack()
      return undefined
    }
    // A slow reader uses its slot without a limit only if no other request waits for one.
    const mayWaitMs = () => (app.exportPlaces.isWaitedFor ? deps.limits.streamStallMs : Number.POSITIVE_INFINITY)
    reply.type(LINES).send(scarceStream(readLines(), mayWaitMs))
    return undefined
  })

  route(app, deps, contract.eraseUser, async ({ agent, params }) => {
    const sessions = await eraseUser(deps, agent.id, params.externalUserId.toLowerCase())
    return { message: 'All that was kept of the user is erased.', sessions }
  })
}

/** Returns the lines of a short export; undefined for a longer one, which is read again and streamed. Many may wait for a slot, so nothing is buffered. */
async function joinShort(slices: AsyncIterable<string>): Promise<string | undefined> {
  let whole = ''
  for await (const slice of slices) {
    whole += slice
    if (whole.length > SHORT_CHARS) return undefined
  }
  return whole
}

async function* toLines(slices: AsyncIterable<ExportedRow[]>, owner: string): AsyncGenerator<string, undefined> {
  for await (const slice of slices) {
    if (slice.length === 0) continue
    await nextSlice(owner)
    yield `${slice.map((kept) => JSON.stringify(kept)).join('\n')}\n`
  }
}
