import { invalid, ReparteeError } from '../core/errors.ts'
import { pacer } from '../core/fairness/pacer.ts'
import type { Session } from '../core/session.ts'
import { listMessagesAfter } from '../store/tables/messages.ts'
import { type SessionFilter, type Slicing, streamSessions } from '../store/tables/sessions.ts'
import type { SessionDeps } from './deps.ts'
import { messageSlices } from './message-slices.ts'

const SESSIONS_A_SLICE = 200
/** Messages read at once, except for long texts. */
const MESSAGES_A_SLICE = 25
/** Each word is searched in every message, so their number multiplies the work. */
const MAX_WORDS = 8

/**
 * Yields the sessions whose name or messages contain every word of `q`, ignoring case, in slices as in the plain list.
 * Throws `invalid_request` for too many words. Stops when the caller has left.
 */
export function searchSessions(
  deps: SessionDeps,
  filter: SessionFilter,
  q: string,
  { owner, isWanted }: Required<Slicing>,
): AsyncGenerator<Session[]> {
  const words = new Set(
    q
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== ''),
  )
  if (words.size > MAX_WORDS) throw invalid('query.q', `must have at most ${MAX_WORDS} different words`)
  return search(deps, filter, { words, owner, isWanted, pause: pacer(owner) })
}

interface Search {
  words: ReadonlySet<string>
  owner: string
  isWanted: () => boolean
  pause: () => Promise<void> | undefined
}

async function* search(deps: SessionDeps, filter: SessionFilter, task: Search): AsyncGenerator<Session[]> {
  for await (const slice of streamSessions(deps.db, filter, SESSIONS_A_SLICE)) {
    const found: Session[] = []
    for (const session of slice) {
      await task.pause()
      if (!task.isWanted()) return
      if (await holds(deps, session, task).catch(isGone)) found.push(session)
    }
    if (found.length > 0) yield found
  }
}

async function holds(deps: SessionDeps, session: Session, { words, owner, isWanted, pause }: Search): Promise<boolean> {
  const missing = new Set(words)
  const strike = (text: string) => {
    const lower = text.toLowerCase()
    for (const word of missing) if (lower.includes(word)) missing.delete(word)
  }
  strike(session.name)
  const { agentId, id, totalMessages } = session
  const isOpen = () => missing.size > 0 && isWanted()
  for (let after = 0; after < totalMessages && isOpen(); after += MESSAGES_A_SLICE) {
    const listed = await listMessagesAfter(deps.db, agentId, id, after, MESSAGES_A_SLICE)
    for await (const slice of messageSlices(deps.db, session, listed, { owner }))
      for (const { content } of slice) {
        if (!isOpen()) return missing.size === 0
        strike(content)
        await pause()
      }
    if (listed.length === 0) break
  }
  return missing.size === 0
}

/** Returns false if the error means that the session was deleted during the search. Throws any other error. */
function isGone(error: unknown): false {
  if (error instanceof ReparteeError && error.code === 'session_not_found') return false
  throw error
}
