import { parentPort, workerData } from 'node:worker_threads'
import { KnowledgeFolder } from '../store/knowledge/folder.ts'
import type { KnowledgeLocation } from '../store/knowledge/open-store.ts'
import { type QuestionStore, Questions } from './questions.ts'
import { serveInTurn } from './rpc.ts'

const methodsOf = (questions: Questions) => ({
  findDocument: questions.findDocument.bind(questions),
  listDocuments: questions.listDocuments.bind(questions),
  listPassages: questions.listPassages.bind(questions),
  findSite: questions.findSite.bind(questions),
  listSiteIds: questions.listSiteIds.bind(questions),
  count: questions.count.bind(questions),
  hasBase: questions.hasBase.bind(questions),
  retrieve: questions.retrieve.bind(questions),
  vectorModel: questions.vectorModel.bind(questions),
  extract: questions.extract.bind(questions),
  suggest: questions.suggest.bind(questions),
  forget: questions.forget.bind(questions),
  async close() {
    questions.close()
    await store.close()
  },
})
export type QuestionMethods = ReturnType<typeof methodsOf>

const { place } = workerData as { place: KnowledgeLocation }
const store = await openStore()
serveInTurn(parentPort!, methodsOf(new Questions(store)))

async function openStore(): Promise<QuestionStore & { close(): unknown }> {
  if ('folder' in place) return new KnowledgeFolder(place.folder)
  const { PostgresReads } = await import('../store/knowledge/postgres/reads.ts')
  return new PostgresReads(place.postgres)
}
