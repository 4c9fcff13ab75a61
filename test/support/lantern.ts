import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HistoryEntry } from '../../src/core/message.ts'
import { newId } from '../../src/core/platform/ids.ts'
import type { Extract, Retrieval, Suggestion } from '../../src/core/ports/retrieval.ts'
import { openKnowledge } from '../../src/knowledge/knowledge.ts'
import { settled } from '../contract/knowledge.ts'

const documents = new URL('../fixtures/answers/', import.meta.url)

/** The documentation of a small product, ready for questions. */
export interface Lantern {
  ask(question: string, history?: HistoryEntry[]): Promise<{ retrieval: Retrieval; extract: Extract; quoted: string }>
  suggest(asked: string[], count?: number): Promise<Suggestion[]>
  close(): Promise<void>
}

export async function openLantern(): Promise<Lantern> {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-lantern-'))
  const knowledge = openKnowledge({ place: { folder }, ids: newId })
  const agent = randomUUID()
  for (const filename of readdirSync(documents)) {
    const content = readFileSync(new URL(filename, documents))
    await knowledge.addDocument(agent, { source: { type: 'file', filename }, mediaType: 'text/markdown', content, metadata: {} })
  }
  await settled(knowledge, agent)
  const retrieve = (query: string, history: HistoryEntry[] = []): Promise<Retrieval> =>
    knowledge.retrieve(agent, { query, history, topK: 6, filter: null })
  return {
    async ask(question, history = []) {
      const retrieval = await retrieve(question, history)
      const extract = await knowledge.extract(agent, { question, history, retrieval })
      return { retrieval, extract, quoted: extract.quotes.map((quote) => quote.text).join('\n') }
    },
    async suggest(asked, count = 3) {
      const question = asked.at(-1)!
      const retrieval = await retrieve(question)
      retrieval.extract = await knowledge.extract(agent, { question, history: [], retrieval })
      return knowledge.suggest(agent, { asked, retrieval, count, filter: null })
    },
    async close() {
      await knowledge.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
