import { nextSlice } from '../../core/fairness/pacer.ts'
import type { Database, Row } from '../database.ts'
import { firstRows } from '../first-rows.ts'
import { countMessagesOfUser, countSessions, type Slicing } from './sessions.ts'

/** An end user of an agent, computed from their sessions. */
export interface User {
  id: string
  sessions: number
  messages: number
  lastMessageAt: number
}

const SLICE_SESSIONS = 250
const USERS_OF_SLICE = `SELECT user_id AS id, count(*) AS sessions, sum(message_count) AS messages, max(last_message_at) AS last FROM
  (SELECT user_id, message_count, last_message_at FROM session WHERE agent_id = $1 AND user_id > $2 ORDER BY user_id LIMIT ${SLICE_SESSIONS}) slice
  GROUP BY user_id ORDER BY user_id`

/** Returns users in order of their ids, from the first after `after`. Reads in slices: other requests are answered in between. */
export async function listUsers(db: Database, agentId: string, after: string, limit: number, slicing: Slicing): Promise<User[]> {
  const sharer = { id: agentId, userId: slicing.owner }
  const users: User[] = []
  while (users.length < limit) {
    // Also before the first slice: sixteen requests of a key may begin in one turn of the event loop.
    await nextSlice(slicing.owner)
    const slice = (await db.scan(USERS_OF_SLICE, [agentId, users.at(-1)?.id ?? after], sharer)).map(toUser)
    users.push(...slice)
    if (slice.reduce((sum, { sessions }) => sum + sessions, 0) < SLICE_SESSIONS) break
    // A full slice may end before the sessions of its last user do.
    const last = users.at(-1)!
    last.sessions = await countSessions(db, { agentId, userId: last.id }, slicing)
    last.messages = await countMessagesOfUser(db, agentId, last.id, slicing)
    if (slicing.isWanted?.() === false) break
  }
  return users.slice(0, limit)
}

const toUser = (row: Row): User => ({
  id: row.id as string,
  sessions: row.sessions as number,
  messages: row.messages as number,
  lastMessageAt: row.last as number,
})

const COUNTED_SESSIONS = 1_000
const COUNT_SLICE = `SELECT count(*) AS sessions, count(DISTINCT user_id) AS users, max(user_id) AS last FROM
  (SELECT user_id FROM session WHERE agent_id = $1 AND user_id > $2 ORDER BY user_id LIMIT ${COUNTED_SESSIONS}) slice`

/** Counts users in slices of sessions: other requests are answered in between. Returns the count so far when the caller has left. */
export async function countUsers(db: Database, agentId: string, { owner, isWanted = () => true }: Slicing): Promise<number> {
  let users = 0
  for (let after = ''; ; ) {
    await nextSlice(owner)
    const [slice] = await db.scan(COUNT_SLICE, [agentId, after], { id: agentId, userId: owner })
    users += slice!.users as number
    if ((slice!.sessions as number) < COUNTED_SESSIONS || !isWanted()) return users
    after = slice!.last as string
  }
}

/** All stored columns of a message, or of an earlier version of a reply. */
export type UserRow = Row

const TEXTS = ['content', 'markdown', 'detail', 'feedback']
const MESSAGES = firstRows({
  columns: 'seq, id, role, content, markdown, model, turn, detail, feedback, created_at',
  from: 'message WHERE agent_id = $1 AND session_id = $2 AND seq > $3',
  key: ['seq'],
  texts: TEXTS,
  limit: '$4',
})

/** Returns the first messages after a position, oldest first, as `firstRows` chooses them. */
export const listMessageRows = (
  db: Database,
  agentId: string,
  sessionId: string,
  after: number,
  limit: number,
): Promise<UserRow[]> => db.scan(MESSAGES, [agentId, sessionId, after, limit])

const VERSIONS = firstRows({
  columns: 'message_id, version, content, markdown, model, detail, feedback, replaced_at',
  from: 'message_version WHERE agent_id = $1 AND session_id = $2 AND (message_id, version) > ($3, $4)',
  key: ['message_id', 'version'],
  texts: TEXTS,
  limit: '$5',
})

/** Returns the first earlier versions after one, by message and version, as `firstRows` chooses them. */
export const listVersionRows = (
  db: Database,
  agentId: string,
  sessionId: string,
  after: { messageId: string; version: number },
  limit: number,
): Promise<UserRow[]> => db.scan(VERSIONS, [agentId, sessionId, after.messageId, after.version, limit])
