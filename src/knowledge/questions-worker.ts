import { parentPort, workerData } from 'node:worker_threads'
import { BaseGone } from '../store/knowledge/base.ts'
import { KnowledgeFolder } from '../store/knowledge/folder.ts'
import type { KnowledgeLocation } from '../store/knowledge/open-store.ts'
import type { ConnectionSettings } from '../store/knowledge/postgres/blocking-connection.ts'
import { Questions } from './questions.ts'
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
  close: questions.close.bind(questions),
})
export type QuestionMethods = ReturnType<typeof methodsOf>

const { place } = workerData as { place: KnowledgeLocation }
serveInTurn(
  parentPort!,
  'folder' in place ? methodsOf(new Questions(new KnowledgeFolder(place.folder))) : await replayed(place.postgres),
)

/** Returns the same methods, each run again until all data that it reads is loaded. */
async function replayed(postgres: ConnectionSettings) {
  const { KnowledgeReplay } = await import('../store/knowledge/postgres/replay.ts')
  const replay = new KnowledgeReplay(postgres)
  const methods = methodsOf(new Questions({ openToRead: (agentId) => replay.base(agentId) }))
  const none = methodsOf(new Questions({ openToRead: () => undefined }))
  const { forget, close, ...reading } = methods
  type Read = (agentId: string, ...args: unknown[]) => unknown
  const again = ([name, method]: [string, unknown]): [string, Read] => [
    name,
    async (agentId, ...args) => {
      try {
        return await replay.read(agentId, () => (method as Read)(agentId, ...args))
      } catch (error) {
        if (!(error instanceof BaseGone)) throw error
        forget(agentId)
        return (none[name as keyof typeof none] as Read)(agentId, ...args)
      }
    },
  ]
  return {
    ...Object.fromEntries(Object.entries(reading).map(again)),
    forget,
    async close() {
      close()
      await replay.close()
    },
  }
}
