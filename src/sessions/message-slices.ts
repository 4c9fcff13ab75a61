import { ReparteeError, sessionNotFound } from '../core/errors.ts'
import { nextSlice } from '../core/fairness/pacer.ts'
import type { Message } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import type { Database } from '../store/database.ts'
import { type ListedMessage, listMessagesAfter, readContents, readSizes } from '../store/tables/messages.ts'
import type { Slicing } from '../store/tables/sessions.ts'

/** A slice of about this size takes less than a millisecond. */
export const SLICE_CHARS = 50_000
const ROWS_A_READ = 100

/**
 * Yields messages in slices that are each written at once. A slice of long texts is read just before it is written, so a slow reader occupies memory for only
 * one. Callers take turns. Throws `session_not_found` if the session is deleted during the read, `unavailable` if the caller leaves.
 */
export async function* messageSlices(
  db: Database,
  session: Session,
  listed: readonly ListedMessage[],
  slicing: Slicing,
): AsyncGenerator<Message[]> {
  const long = idsOfLong(listed)
  const sizes = long.length === 0 ? new Map<string, number>() : await readSizes(db, session, long)
  let slice: ListedMessage[] = []
  let size = 0
  for (const message of listed) {
    const own = message.content?.length ?? sizes.get(message.id) ?? 0
    if (slice.length > 0 && size + own > SLICE_CHARS) {
      yield await withTexts(db, session, slice, slicing)
      slice = []
      size = 0
    }
    slice.push(message)
    size += own
  }
  if (slice.length > 0) yield await withTexts(db, session, slice, slicing)
}

const idsOfLong = (listed: readonly ListedMessage[]) => listed.filter(({ content }) => content === null).map(({ id }) => id)

async function withTexts(
  db: Database,
  session: Session,
  slice: ListedMessage[],
  { owner, isWanted }: Slicing,
): Promise<Message[]> {
  const long = idsOfLong(slice)
  if (long.length === 0) return slice as Message[]
  await nextSlice(owner)
  if (isWanted?.() === false) throw new ReparteeError('unavailable', 'The caller has left.')
  const texts = await readContents(db, session, long, { id: owner })
  return slice.map((message) => {
    const content = message.content ?? texts.get(message.id)
    if (content === undefined) throw sessionNotFound()
    return { ...message, content }
  })
}

/** Yields the current history. It only grows at its end, so its parts form a consistent view. Throws as `messageSlices` does. */
export async function* historySlices(db: Database, session: Session, slicing: Slicing): AsyncGenerator<Message[]> {
  const { agentId, id, totalMessages } = session
  for (let after = 0; after < totalMessages; ) {
    const listed = await listMessagesAfter(db, agentId, id, after, Math.min(ROWS_A_READ, totalMessages - after))
    if (listed.length === 0) throw sessionNotFound()
    yield* messageSlices(db, session, listed, slicing)
    after += listed.length
  }
}
