import { commitsLost, type KnowledgeBase } from '../base.ts'
import { drive } from '../work.ts'
import { type Stream, streams } from './build.ts'
import { deathOf, MAX_DEAD_SHARE, raiseVersion } from './index.ts'
import { append, Head, type Joined, type PostingsPart, precedes, renumber } from './merge-postings.ts'
import { Bytes } from './posting.ts'
import { hasIdIn, type Range } from './ranges.ts'
import { insertSegment, ListWriter, listSegments, listSizes, type Segment, setSegment } from './segments.ts'

/** Number of neighbour segments of one size that are merged into one. */
const FAN = 8
/** Larger segments stay as they are. */
const MAX_MERGED = 200_000

/**
 * Maximum number of erased ranges. With more, the segment with most of them is rewritten:
 * each question after a change, and each erase step, reads all of them.
 */
const MAX_STRETCHES = 5_000

/** Lists and bytes deleted in one transaction. Other writes wait, because SQLite overwrites deleted bytes. */
const LISTS_A_DELETION = 5_000
const BYTES_A_DELETION = 4_000_000

const joinedGaps = new Bytes()

/**
 * Merges segments, some lists per transaction: the first `FAN` neighbours of a size, or one segment with many deleted passages. The new segment
 * is visible only when it is complete. `emptySome` deletes the replaced segments, or the remains of a merge after a crash.
 * Nothing may be erased until the merge is done: words of erased passages would stay in lists that are already copied.
 */
export class Merge {
  readonly #segments: readonly Segment[]
  readonly #parts: readonly PostingsPart[]
  readonly #heads: Head[]
  #number: number | undefined
  /** Key of the last written list. */
  #lastKey: string | undefined

  private constructor(segments: readonly Segment[], isDead: (id: number) => boolean) {
    this.#segments = segments
    this.#parts = segments.map((segment) => renumber(segment, isDead))
    this.#heads = segments.map((segment, i) => new Head(segment.number, this.#parts[i]!))
    let offset = 0
    for (const part of this.#parts) {
      part.offset = offset
      offset += part.ids.length
    }
  }

  /** Returns undefined if there is nothing to merge. `idle`: also merges fewer neighbours if the small ones are large enough together (see `leftovers`). */
  static begin(base: KnowledgeBase, idle: boolean, maxStretches = MAX_STRETCHES): Merge | undefined {
    if (base.get('SELECT 1 FROM {dead} WHERE staged = 1') !== undefined) return undefined
    const sizes = listSizes(base)
    const isDead = deathOf(base)
    const group =
      mostlyDead(base, isDead) ?? mostErased(base, maxStretches) ?? neighbours(sizes) ?? (idle ? leftovers(sizes) : undefined)
    if (group === undefined) return undefined
    const numbers = new Set(group.map(({ number }) => number))
    return new Merge(
      drive(base, listSegments()).filter(({ number }) => numbers.has(number)),
      isDead,
    )
  }

  /** Runs one transaction of about `ms` milliseconds. Returns false when done. Do not use it after an error; throws `unavailable` if steps were lost. */
  step(base: KnowledgeBase, ms: number): boolean {
    return base.write(
      () => {
        if (this.#number === undefined) this.#number = insertSegment(base)
        else if (!this.#isThere(base, this.#number)) throw commitsLost()
        const end = performance.now() + ms
        const writer = new ListWriter(base, this.#number)
        do if (!this.#copyList(base, writer)) return this.#finish(base, writer, this.#number)
        while (performance.now() < end)
        writer.flush()
        return true
      },
      { durable: false },
    )
  }

  /** Returns false if a database server crash lost the last step: other segments may have got its number. */
  #isThere(base: KnowledgeBase, number: number): boolean {
    if (base.get('SELECT 1 FROM {segment} WHERE number = ? AND n = 0', number) === undefined) return false
    return (
      this.#lastKey === undefined ||
      base.get('SELECT 1 FROM {post} WHERE segment = ? AND key = ?', number, this.#lastKey) !== undefined
    )
  }

  /** Returns false if no list is left. */
  #copyList(base: KnowledgeBase, writer: ListWriter): boolean {
    let key: string | undefined
    for (const head of this.#heads) {
      const row = head.row(base)
      if (row !== undefined && (key === undefined || precedes(row.key, key))) key = row.key
    }
    if (key === undefined) return false
    const joined: Joined = { df: 0, last: -1, impacts: [], gaps: joinedGaps }
    joinedGaps.clear()
    for (const head of this.#heads) {
      const row = head.row(base)
      if (row?.key !== key) continue
      append(joined, row, head.part)
      head.next()
    }
    if (joined.df === 0) return true
    for (const impacts of joined.impacts) writer.data.append(impacts)
    writer.data.append(joined.gaps.view())
    writer.put(key, joined.df, joined.last)
    this.#lastKey = key
    return true
  }

  #finish(base: KnowledgeBase, writer: ListWriter, number: number): false {
    writer.flush()
    const lengths: Record<Stream, number> = { exact: 0, stems: 0, title: 0, unspaced: 0 }
    let grams = 0
    for (const [i, segment] of this.#segments.entries()) {
      // The lengths of single deleted passages are unknown, so the totals shrink in proportion.
      const share = this.#parts[i]!.ids.length / segment.n
      for (const stream of streams) lengths[stream] += Math.round(segment.lengths[stream] * share)
      grams += Math.round(segment.grams * share)
      setSegment(base, segment.number)
    }
    const ids = Uint32Array.from(this.#parts.flatMap((part) => part.ids))
    if (ids.length > 0) setSegment(base, number, { ids, lengths, grams })
    forgetDead(base)
    raiseVersion(base)
    return false
  }
}

/** Deletes some lists of empty segments (replaced or incomplete), in its own transaction. Not during a merge. Returns false when nothing is left. */
export function emptySome(base: KnowledgeBase): boolean {
  const segment = base.get<{ number: number }>('SELECT number FROM {segment} WHERE n = 0 LIMIT 1')?.number
  if (segment === undefined) return false
  base.write(
    () => {
      const lists = base.all<{ key: string; bytes: number }>(
        'SELECT key, length(data) AS bytes FROM {post} WHERE segment = ? ORDER BY key LIMIT ?',
        segment,
        LISTS_A_DELETION,
      )
      let last: string | undefined
      let left = BYTES_A_DELETION
      for (const { key, bytes } of lists) {
        if (left <= 0) break
        last = key
        left -= bytes
      }
      if (last === undefined) base.delete('segment', 'number = ?', segment)
      else base.delete('post', 'segment = ? AND key <= ?', segment, last)
    },
    { durable: false },
  )
  return true
}

type Size = Pick<Segment, 'number' | 'n'>

function mostlyDead(base: KnowledgeBase, isDead: (id: number) => boolean): Size[] | undefined {
  if (base.get('SELECT 1 FROM {dead}') === undefined) return undefined
  const segment = drive(base, listSegments()).find(
    ({ ids, n }) => ids.reduce((dead, id) => dead + (isDead(id) ? 1 : 0), 0) >= n * MAX_DEAD_SHARE,
  )
  return segment === undefined ? undefined : [segment]
}

/** Returns the segment with most erased ranges, if all segments together have too many. */
function mostErased(base: KnowledgeBase, maxStretches: number): Size[] | undefined {
  const erased = base.all<Range>(`${ERASED} LIMIT ?`, 2 * maxStretches)
  if (erased.length <= maxStretches) return undefined
  const counted = drive(base, listSegments()).map((segment) => ({
    segment,
    stretches: erased.reduce((sum, range) => sum + (hasIdIn(segment.ids, range) ? 1 : 0), 0),
  }))
  const most = counted.reduce((best, one) => (one.stretches > (best?.stretches ?? 0) ? one : best), counted[0])
  if (most !== undefined && most.stretches > 0) return [most.segment]
  base.write(() => forgetDead(base), { durable: false })
  return undefined
}

const tierOf = ({ n }: Size): number => Math.floor(Math.log(n) / Math.log(FAN))

function neighbours(segments: readonly Size[]): Size[] | undefined {
  for (let tier = 0; FAN ** tier <= MAX_MERGED; tier++) {
    let run: Size[] = []
    let n = 0
    for (const segment of segments) {
      if (tierOf(segment) > tier || n + segment.n > MAX_MERGED) {
        if (run.length >= FAN) return run
        run = []
        n = 0
        if (tierOf(segment) > tier) continue
      }
      run.push(segment)
      n += segment.n
    }
    if (run.length >= FAN) return run
  }
  return undefined
}

/** Returns the first neighbours that fit into one segment, if the smaller ones together are at least a quarter of the largest. */
function leftovers(segments: readonly Size[]): Size[] | undefined {
  const weigh = (run: readonly Size[]): boolean => {
    const largest = run.reduce((most, { n }) => Math.max(most, n), 0)
    return run.length > 1 && sizeOf(run) - largest >= largest / 4
  }
  let run: Size[] = []
  for (const segment of segments) {
    if (sizeOf(run) + segment.n > MAX_MERGED) {
      if (weigh(run)) return run
      run = []
    }
    run.push(segment)
  }
  return weigh(run) ? run : undefined
}

const sizeOf = (segments: readonly Size[]): number => segments.reduce((sum, { n }) => sum + n, 0)

const ERASED = 'SELECT first, last FROM {dead} WHERE erased > last ORDER BY first'

/** Deletes the rows of erased ranges that are in no segment. */
function forgetDead(base: KnowledgeBase): void {
  const erased = base.all<Range>(ERASED)
  if (erased.length === 0) return
  const segments = drive(base, listSegments())
  for (const range of erased) if (!segments.some(({ ids }) => hasIdIn(ids, range))) base.delete('dead', 'first = ?', range.first)
}
