import type { Session } from '../core/session.ts'
import { listMessages } from '../store/messages.ts'
import { type SessionFilter, streamSessions } from '../store/sessions.ts'
import type { Deps } from './deps.ts'

const SLICE = 200

/** Sessions that hold every word of `q`, in their name or any of their messages, upper and lower case alike. In slices, as the plain list. */
export async function* searchSessions(deps: Deps, filter: SessionFilter, q: string): AsyncGenerator<Session[]> {
  const words = q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  for await (const slice of streamSessions(deps.db, filter, SLICE)) {
    const found: Session[] = []
    for (const session of slice) if (await holds(deps, session, words)) found.push(session)
    if (found.length > 0) yield found
  }
}

async function holds(deps: Deps, session: Session, words: string[]): Promise<boolean> {
  const missing = new Set(words)
  const strike = (text: string) => {
    const lower = text.toLowerCase()
    for (const word of missing) if (lower.includes(word)) missing.delete(word)
  }
  strike(session.name)
  for (let after = 0; missing.size > 0 && after < session.totalMessages; after += SLICE) {
    const messages = await listMessages(deps.db, session.agentId, session.id, after, SLICE)
    for (const { content } of messages) strike(content)
    if (messages.length === 0) break
    await new Promise(setImmediate) // other requests go on while a long history is read
  }
  return missing.size === 0
}
