import type { KnowledgeBase } from './base.ts'
import { bytesOf } from './rows.ts'
import type { Insertion } from './statements.ts'
import { all, getMany, type Work } from './work.ts'

/** Signs of vectors, one bit per dimension, in order of passage ids. */
export interface VectorBlock {
  number: number
  version: number
  ids: Uint32Array
  bits: Uint8Array
}

export const BLOCK_VECTORS = 1_024

const BLOCK: Insertion = {
  into: 'vector_block',
  columns: ['space', 'number', 'version', 'first', 'last', 'ids', 'bits'],
  onConflict: {
    key: ['space', 'number'],
    set: 'version = excluded.version, first = excluded.first, last = excluded.last, ids = excluded.ids, bits = excluded.bits',
  },
}

/** Returns the numbers of all blocks, and the blocks that `known` lacks or has in another version. */
export function* readBlocks(space: number, known: ReadonlyMap<number, number>): Work<{ all: number[]; changed: VectorBlock[] }> {
  const rows = yield* all<{ number: number; version: number }>(
    'SELECT number, version FROM {vector_block} WHERE space = ? ORDER BY number',
    space,
  )
  const changed = yield* getMany<BlockRow>(
    `${SELECT_BLOCK} WHERE space = ? AND number = ?`,
    rows.filter(({ number, version }) => known.get(number) !== version).map(({ number }) => [space, number]),
  )
  return { all: rows.map(({ number }) => number), changed: changed.map((row) => toBlock(row!)) }
}

interface BlockRow {
  number: number
  version: number
  ids: Uint8Array
  bits: Uint8Array
}
const SELECT_BLOCK = 'SELECT number, version, ids, bits FROM {vector_block}'
const toBlock = ({ ids, ...row }: BlockRow): VectorBlock => ({ ...row, ids: new Uint32Array(ids.slice().buffer) })

/** Appends signs after the existing ones. Runs in the caller's transaction. */
export function appendSigns(base: KnowledgeBase, space: number, signs: readonly { id: number; bits: Uint8Array }[]): void {
  let rest = signs
  while (rest.length > 0) {
    const last = base.get<BlockRow>(`${SELECT_BLOCK} WHERE space = ? ORDER BY number DESC LIMIT 1`, space)
    const block = last === undefined ? undefined : toBlock(last)
    const room = block === undefined ? 0 : BLOCK_VECTORS - block.ids.length
    const own = rest.slice(0, room > 0 ? room : BLOCK_VECTORS)
    rest = rest.slice(own.length)
    const open =
      room > 0
        ? block!
        : { number: (block?.number ?? 0) + 1, version: newVersion(), ids: new Uint32Array(0), bits: new Uint8Array(0) }
    writeBlock(base, space, {
      ...open,
      ids: Uint32Array.from([...open.ids, ...own.map(({ id }) => id)]),
      bits: Buffer.concat([open.bits, ...own.map(({ bits }) => bits)]),
    })
  }
}

/** Random, because block numbers are reused: a reader must not confuse a new block with a deleted one. */
const newVersion = (): number => Math.floor(Math.random() * 2 ** 40)

function writeBlock(base: KnowledgeBase, space: number, { number, version, ids, bits }: VectorBlock): void {
  if (ids.length === 0) {
    base.delete('vector_block', 'space = ? AND number = ?', space, number)
    return
  }
  base.insert(
    BLOCK,
    space,
    number,
    version + 1,
    ids.reduce((a, b) => Math.min(a, b)),
    ids.reduce((a, b) => Math.max(a, b)),
    bytesOf(ids),
    bits,
  )
}

/** Returns the number of vectors with stored signs. */
export function countSigns(base: KnowledgeBase, space: number): number {
  return base.get<{ n: number | null }>('SELECT sum(length(ids)) / 4 AS n FROM {vector_block} WHERE space = ?', space)?.n ?? 0
}

/** Removes the signs of erased passages. Runs in the caller's transaction. */
export function eraseFromBlocks(base: KnowledgeBase, space: number, first: number, last: number): void {
  const blocks = base
    .all<BlockRow>(`${SELECT_BLOCK} WHERE space = ? AND first <= ? AND last >= ?`, space, last, first)
    .map(toBlock)
  for (const block of blocks) {
    const kept = [...block.ids.keys()].filter((at) => block.ids[at]! < first || block.ids[at]! > last)
    const size = block.bits.length / block.ids.length
    writeBlock(base, space, {
      ...block,
      ids: Uint32Array.from(kept, (at) => block.ids[at]!),
      bits: Buffer.concat(kept.map((at) => block.bits.subarray(at * size, (at + 1) * size))),
    })
  }
  if (blocks.length > 0) joinBlocks(base, space)
}

/** Merges partly empty blocks once half of their room is unused: each block takes its full size in the memory of readers. */
function joinBlocks(base: KnowledgeBase, space: number): void {
  const { last, vectors } = base.get<{ last: number | null; vectors: number | null }>(
    'SELECT max(number) AS last, sum(length(ids)) / 4 AS vectors FROM {vector_block} WHERE space = ?',
    space,
  )!
  if ((last ?? 0) <= 2 * Math.ceil((vectors ?? 0) / BLOCK_VECTORS)) return
  const blocks = base.all<BlockRow>(`${SELECT_BLOCK} WHERE space = ? ORDER BY number`, space).map(toBlock)
  base.delete('vector_block', 'space = ?', space)
  for (const { ids, bits } of blocks) {
    const size = bits.length / ids.length
    appendSigns(
      base,
      space,
      Array.from(ids, (id, at) => ({ id, bits: bits.subarray(at * size, (at + 1) * size) })),
    )
  }
}
