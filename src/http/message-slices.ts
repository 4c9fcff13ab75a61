import { sessionNotFound } from '../chat/sessions.ts'
import type { Message } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import type { Database } from '../store/database.ts'
import { type ListedMessage, listMessagesAfter, readContent } from '../store/messages.ts'

/** A slice of about so many characters takes less than a millisecond. */
export const SLICE_CHARS = 50_000
const ROWS_A_READ = 100

/**
 * Messages in slices that are written in one go. A long text is read when it is about to be written: a slow reader holds one of them. Throws `session_not_found`
 * if the session is deleted during the read.
 */
export async function* messageSlices(
  db: Database,
  session: Session,
  listed: readonly ListedMessage[],
): AsyncGenerator<Message[]> {
  let slice: Message[] = []
  let chars = 0
  for (const message of listed) {
    const content = message.content ?? (await readContent(db, session.agentId, session.id, message.id))
    if (content === undefined) throw sessionNotFound()
    if (slice.length > 0 && chars + content.length > SLICE_CHARS) {
      yield slice
      slice = []
      chars = 0
    }
    slice.push({ ...message, content })
    chars += content.length
  }
  if (slice.length > 0) yield slice
}

/** The history as it is now. It only grows at its end, so that parts of it are one consistent view. Throws as `messageSlices` does. */
export async function* historySlices(db: Database, session: Session): AsyncGenerator<Message[]> {
  const { agentId, id, totalMessages } = session
  for (let after = 0; after < totalMessages; ) {
    const listed = await listMessagesAfter(db, agentId, id, after, Math.min(ROWS_A_READ, totalMessages - after))
    if (listed.length === 0) throw sessionNotFound()
    yield* messageSlices(db, session, listed)
    after += listed.length
  }
}
