import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../store/database.ts'
import { addPiece, deletePieces, listPieces } from '../store/tables/followed-turns.ts'
import type { Turn } from './turn.ts'

const PUBLISH_EVERY_MS = 100
const LOOK_EVERY_MS = 100
const PIECE_CHARS = 8_192
/** Readers elsewhere have so long to take the end of a text. */
const KEEP_MS = 2_000

/** Puts down the text of a turn of this process, as it grows, for readers elsewhere; until it has ended. */
export async function publishTurn(db: Database, turn: Turn): Promise<void> {
  // What was read there cannot be taken back either.
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

/** Lets the text of a turn grow as its process puts it down. Resolves when all of it is there, or it is not wanted any more. */
export async function followTurn(db: Database, turn: Turn, isWanted: () => boolean): Promise<void> {
  while (isWanted()) {
    for (const { start, text } of await listPieces(db, turn, turn.length)) {
      if (text === '') return
      if (start === turn.length) turn.append(text)
    }
    await pause(LOOK_EVERY_MS)
  }
}
