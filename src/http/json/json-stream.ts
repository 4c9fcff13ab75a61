import { Readable } from 'node:stream'
import { nextSlice } from '../../core/fairness/pacer.ts'

/** Rows that are read and written without a break: about a millisecond, so that a long list of one caller does not delay others. */
export const SLICE_ROWS = 100

/** For a reader that takes nothing for this time, the list is read ahead. */
const SLOW_MS = 1_000
const READER_MS_OF_SCARCE = 2_000
const LOOK_EVERY_MS = 100
/** Maximum number of characters that are read ahead, for one list and for all lists together. */
const MAX_AHEAD_CHARS = 2_097_152
const MAX_AHEAD_CHARS_IN_ALL = 8_388_608
let aheadChars = 0

/** A list as JSON text: `head` + items + `tail`. */
export interface ListParts<T> {
  head: string
  slices: AsyncIterable<T[]>
  /** Returns an item exactly as in the contract: the result is serialized without a schema, which is twice as fast. */
  toItem(item: T): object
  tail: string
  /** The caller. Owners take turns, slice by slice. */
  owner: string
}

/**
 * Returns the text of a list with one slice, else a stream that contains one slice at a time. Throws if the first slice cannot be read. A later failure aborts
 * the connection, so that half a list never looks complete. Calls `onSecond`, which may throw, before a second slice is written.
 */
export async function textOrStream<T>(list: ListParts<T>, onSecond: () => void): Promise<string | Readable> {
  const text = pieces(list, onSecond)
  const { value: first, done } = await text.next()
  if (done === true) return first
  const stream = Readable.from(startingWith(first, text), { objectMode: false, highWaterMark: 65_536 })
  // A generator that is never read does not run its `finally`.
  stream.once('close', () => void text.return('').catch(() => {}))
  return stream
}

async function* startingWith(first: string, rest: AsyncGenerator<string, string>): AsyncGenerator<string> {
  yield first
  yield yield* rest
}

/**
 * Returns the text as a stream, for slices that occupy a scarce resource until they are read. For a slow reader, the rest is read into memory if it is not too
 * long. If it is too long, the reader is disconnected after a total wait of `readerMs`, or of 2 seconds while `othersWait`.
 */
export function scarceJsonStream<T>(list: ListParts<T>, readerMs: number, othersWait = () => false): Readable {
  return scarceStream(pieces(list), () => (othersWait() ? Math.min(readerMs, READER_MS_OF_SCARCE) : readerMs))
}

/** Does the same for any text. `mayWaitMs`: returns the current limit of the total wait for a reader. */
export function scarceStream(text: AsyncGenerator<string, string | undefined>, mayWaitMs: () => number): Readable {
  const cutOff = () => stream.destroy(new Error('the reader of a list took too long'))
  const stream = Readable.from(aheadOfSlow(text, mayWaitMs, cutOff), { objectMode: false, highWaterMark: 65_536 })
  return stream
}

async function* aheadOfSlow(
  source: AsyncGenerator<string, string | undefined>,
  mayWaitMs: () => number,
  cutOff: () => void,
): AsyncGenerator<string> {
  const ahead: string[] = []
  let chars = 0
  let isRead = false
  let isOver = false
  let waitedMs = 0
  async function readOne(): Promise<void> {
    const { value, done } = await source.next()
    if (done === true) isRead = true
    if (isOver || value === undefined) return
    ahead.push(value)
    chars += value.length
    aheadChars += value.length
  }
  async function readAhead(): Promise<void> {
    while (!isRead && chars < MAX_AHEAD_CHARS && aheadChars < MAX_AHEAD_CHARS_IN_ALL) await readOne()
  }
  try {
    for (;;) {
      if (ahead.length === 0 && !isRead) await readOne()
      const piece = ahead.shift()
      if (piece === undefined) return
      chars -= piece.length
      aheadChars -= piece.length
      let reading: Promise<void> | undefined
      const since = performance.now()
      const slow = setTimeout(() => {
        reading = readAhead()
        reading.catch(() => {}) // thrown when the reader comes back
      }, SLOW_MS)
      const late = setInterval(() => {
        if (!isRead && waitedMs + performance.now() - since > mayWaitMs()) cutOff()
      }, LOOK_EVERY_MS)
      try {
        yield piece
      } finally {
        clearTimeout(slow)
        clearInterval(late)
      }
      await reading
      if (!isRead) waitedMs += performance.now() - since
    }
  } finally {
    isOver = true
    aheadChars -= chars
    await source.return('')
  }
}

/** Yields the text up to the last slice, and returns the rest. */
async function* pieces<T>(
  { head, slices, toItem, tail, owner }: ListParts<T>,
  onSecond = () => {},
): AsyncGenerator<string, string> {
  let text = head
  let count = 0
  for await (const slice of slices) {
    count++
    if (count === 2) onSecond()
    if (count > 1) {
      yield text
      text = ','
      await nextSlice(owner)
    }
    text += JSON.stringify(slice.map(toItem)).slice(1, -1)
  }
  return text + tail
}
