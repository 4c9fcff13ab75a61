import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../store/database.ts'
import { addPiece, deletePieces, listPieces } from '../store/tables/processes/followed-turns.ts'
import type { Turn } from './turn.ts'

const PUBLISH_EVERY_MS = 100
const LOOK_EVERY_MS = 100
const PIECE_CHARS = 8_192
/** How long the end of a text stays available to readers in other processes. */
const KEEP_MS = 2_000

/** Writes the growing text of a turn of this process to the database, for readers in other processes. Resolves when the turn has ended. */
export async function publishTurn(db: Database, turn: Turn): Promise<void> {
  // Text that other processes have read cannot be taken back, so the turn counts as watched.
  const unwatch = turn.watch(() => {})
  let start = 0
  try {
    for (let isOver = false; !isOver; ) {
      isOver = turn.isReleased
      while (start < turn.length) {
        const text = turn.read(start, PIECE_CHARS)
        await addPiece(db, turn, { start, text })
        start += text.length
      }
      if (!isOver) await Promise.race([turn.released, pause(PUBLISH_EVERY_MS)])
    }
    await addPiece(db, turn, { start, text: '' })
    await pause(KEEP_MS, undefined, { ref: false })
  } finally {
    unwatch()
    await deletePieces(db, turn)
  }
}

/** Appends the text that another process publishes to a turn. Resolves when the text is complete, or no caller wants it. */
export async function followTurn(db: Database, turn: Turn, isWanted: () => boolean): Promise<void> {
  while (isWanted()) {
    for (const { start, text } of await listPieces(db, turn, turn.length)) {
      if (text === '') return
      if (start === turn.length) turn.append(text)
    }
    await pause(LOOK_EVERY_MS)
  }
}
