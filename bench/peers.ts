// Default prompts of other systems, by their documentation and settings as of autumn 2026: size and number of chunks, amount of
// conversation, and position of the chunks. None of their code runs here. All use Repartee's retrieval, which knows the conversation, and its
// instructions instead of their templates. Marks around chunks and calls that rewrite a question cost them nothing.
// All of this is in their favour, except for AnythingLLM, whose template is shorter.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HistoryEntry } from '../src/core/message.ts'
import { newId } from '../src/core/platform/ids.ts'
import type { PromptMessage } from '../src/core/ports/model.ts'
import { retrieve } from '../src/knowledge/query/retrieve.ts'
import { KnowledgeFile } from '../src/store/knowledge/file.ts'
import { addToBatch, newBatch, raiseVersion, writeBatch } from '../src/store/knowledge/index/index.ts'
import { KnowledgeIndex } from '../src/store/knowledge/reader/knowledge-index.ts'
import type { Item } from './base.ts'
import { readIndex } from './read-index.ts'

export interface Peer {
  name: string
  /** Characters of a chunk, and characters that it shares with the previous one. */
  size: number
  overlap: number
  pieces: number
  /** Number of earlier messages in the prompt. */
  history: number
  /** Position of the chunks: with the instructions, or with the newest message. */
  place: 'system' | 'message'
}

const tokens = (count: number): number => Math.round(count * 3.5)
const WHOLE = Number.POSITIVE_INFINITY

export const peers: Peer[] = [
  { name: 'Dify', size: tokens(1024), overlap: tokens(50), pieces: 3, history: WHOLE, place: 'system' },
  { name: 'Open WebUI', size: 1000, overlap: 100, pieces: 3, history: WHOLE, place: 'system' },
  { name: 'AnythingLLM', size: 1000, overlap: 20, pieces: 4, history: 40, place: 'system' },
  { name: 'Flowise, LangChain', size: 1000, overlap: 200, pieces: 4, history: WHOLE, place: 'system' },
  { name: 'RAGFlow', size: tokens(512), overlap: 0, pieces: 6, history: WHOLE, place: 'system' },
  { name: 'Onyx', size: tokens(512), overlap: 0, pieces: 10, history: WHOLE, place: 'message' },
  { name: 'OpenAI file search', size: tokens(800), overlap: tokens(400), pieces: 20, history: WHOLE, place: 'message' },
]

/** Splits a text into overlapping chunks that end at a paragraph, a sentence or at least a word. */
export function cutInto(text: string, { size, overlap }: Pick<Peer, 'size' | 'overlap'>): string[] {
  const pieces: string[] = []
  for (let at = 0; ; ) {
    const end = at + size >= text.length ? text.length : at + endWithin(text.slice(at, at + size))
    pieces.push(text.slice(at, end).trim())
    if (end === text.length) return pieces.filter((piece) => piece !== '')
    const next = end - overlap
    const word = text.indexOf(' ', next)
    at = overlap === 0 ? end : Math.max(at + 1, word === -1 || word >= end ? next : word + 1)
  }
}

/** Returns the last suitable end in the second half of a stretch. */
function endWithin(stretch: string): number {
  for (const end of ['\n\n', '\n', '. ', ' ']) {
    const at = stretch.lastIndexOf(end)
    if (at > stretch.length / 2) return at + end.length
  }
  return stretch.length
}

/** Documents split as a peer splits them, with each chunk as a passage. */
export class PeerBase {
  readonly #peer: Peer
  readonly #folder = mkdtempSync(join(tmpdir(), 'repartee-bench-'))
  readonly #index: KnowledgeIndex

  constructor(peer: Peer, documents: readonly Item[]) {
    this.#peer = peer
    const path = join(this.#folder, 'base.db')
    const file = KnowledgeFile.openToWrite(path)
    const batch = newBatch()
    const cut = documents.map(({ title = '', text }, i) => {
      const pieces = cutInto(text, peer)
      for (const [position, piece] of pieces.entries())
        addToBatch(batch, { text: piece, heading: '', page: null, document: i + 1, position, title })
      return { title, pieces: pieces.length }
    })
    file.write(() => {
      let first = writeBatch(file, batch)
      for (const { title, pieces } of cut) {
        file.run(
          `INSERT INTO document (id, title, title_given, source, media_type, bytes, hash, metadata, status, progress, created_at, updated_at, first, last, indexed_title)
           VALUES (?, ?, 1, '{"type":"text"}', 'text/plain', 1, x'00', '{}', 'ready', 1, 0, 0, ?, ?, ?)`,
          newId(), title, first, first + pieces - 1, title,
        ) // biome-ignore format: one row
        first += pieces
      }
      raiseVersion(file)
    })
    file.close()
    this.#index = new KnowledgeIndex(KnowledgeFile.openToRead(path)!)
  }

  /** Returns the prompt that the peer would send. */
  prompt(instructions: string, history: HistoryEntry[], message: string): PromptMessage[] {
    const { pieces, place, history: newest } = this.#peer
    const { hits } = readIndex(this.#index, (read) => retrieve(read, { query: message, history, topK: pieces, filter: null }))
    const found = hits.map(({ text }) => text).join('\n\n')
    return [
      { role: 'system', content: place === 'system' ? `${instructions}\n\n${found}` : instructions },
      ...history
        .slice(-newest)
        .map(({ role, content }) => ({ role: role === 'AI' ? ('assistant' as const) : ('user' as const), content })),
      { role: 'user', content: place === 'message' ? `${found}\n\n${message}` : message },
    ]
  }

  close(): void {
    this.#index.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
