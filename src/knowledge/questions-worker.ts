import { parentPort, workerData } from 'node:worker_threads'
import { type KnowledgePlace, openKnowledgeStore } from '../store/knowledge-store.ts'
import { Questions } from './questions.ts'
import { serve } from './rpc.ts'

const questions = new Questions(openKnowledgeStore((workerData as { place: KnowledgePlace }).place))

const methods = {
  findDocument: questions.findDocument.bind(questions),
  listDocuments: questions.listDocuments.bind(questions),
  listPassages: questions.listPassages.bind(questions),
  findSite: questions.findSite.bind(questions),
  listSites: questions.listSites.bind(questions),
  count: questions.count.bind(questions),
  retrieve: questions.retrieve.bind(questions),
  vectorModel: questions.vectorModel.bind(questions),
  extract: questions.extract.bind(questions),
  suggest: questions.suggest.bind(questions),
  forget: questions.forget.bind(questions),
  close: questions.close.bind(questions),
}
export type QuestionMethods = typeof methods

serve(parentPort!, methods)
