import type { Document, DocumentStatus, ListedDocument, Metadata, NewDocument, Passage } from '../document.ts'
import type { KnowledgePageInput, Page } from '../page.ts'
import type { NewSite, Site } from '../site.ts'
import type { Extract, ExtractInput, Retrieval, RetrieveInput, SuggestInput, Suggestion } from './retrieval.ts'

/** The knowledge base of each agent. Methods resolve to undefined (or false) for an unknown document, and throw `ReparteeError` only for store defects. */
export interface Knowledge {
  /**
   * Durable when it resolves; indexed in the background. The same title and bytes are the same document. `askedBy`, here and below, is the calling key.
   * Background work after a change runs in turns of keys, and of the agents of a key.
   */
  addDocument(agentId: string, document: NewDocument, askedBy?: string): Promise<Document>
  /** The old content stays searchable until the new content is indexed. */
  replaceDocument(agentId: string, documentId: string, document: NewDocument, askedBy?: string): Promise<Document | undefined>
  updateDocument(
    agentId: string,
    documentId: string,
    change: { title?: string; metadata?: Metadata },
    askedBy?: string,
  ): Promise<Document | undefined>
  /** When it resolves, the document is no longer retrieved. */
  deleteDocument(agentId: string, documentId: string): Promise<boolean>
  findDocument(agentId: string, documentId: string, askedBy?: string): Promise<Document | undefined>
  /** Newest first. `cursor` is a document's id. Undefined if this agent has no such document. */
  listDocuments(
    agentId: string,
    page: KnowledgePageInput & { status?: DocumentStatus },
  ): Promise<Page<ListedDocument> | undefined>
  /** In reading order. `cursor` is a passage's id. */
  listPassages(agentId: string, documentId: string, page: KnowledgePageInput): Promise<Page<Passage> | undefined>
  /** Durable when it resolves; the pages are fetched in the background. The same type and URL are the same site. */
  addSite(agentId: string, site: NewSite, askedBy?: string): Promise<Site>
  /** Refreshes a site in the background. */
  refreshSite(agentId: string, siteId: string, askedBy?: string): Promise<Site | undefined>
  /** Deletes a site with its documents. */
  deleteSite(agentId: string, siteId: string): Promise<boolean>
  findSite(agentId: string, siteId: string, askedBy?: string): Promise<Site | undefined>
  /** Newest first. `cursor` is a site's id. Undefined if this agent has no such site. */
  listSites(agentId: string, page: KnowledgePageInput): Promise<Page<Site> | undefined>
  count(agentId: string, askedBy?: string): Promise<{ documents: number; passages: number }>
  /** Resolves to the model whose vectors are currently searched. Undefined if there are none. */
  vectorModel(agentId: string, askedBy?: string): Promise<string | undefined>
  /**
   * Resolves to passages without a vector of this model, in order. If there are none, the base is searched by this model's vectors from now on.
   * Leases the passages for about a minute to one of the processes that share the knowledge; the others get none.
   */
  takeUnembedded(agentId: string, model: string, most: number): Promise<{ id: number; text: string }[]>
  /** Resolves to false if the vectors are no longer useful. */
  putVectors(agentId: string, model: string, ids: number[], vectors: (Float32Array | null)[]): Promise<boolean>
  /**
   * Adds vectors of a large base to an index of the database, some at each call. The base must be searched by this model.
   * `impossible` is the reason why it cannot. `done` also if the base is smaller, or the database supports no such index.
   */
  growVectorIndex(agentId: string, model: string): Promise<'more' | 'done' | { impossible: string }>
  /** Resolves to ready and failed documents that `deleteDocumentEvents` has not marked yet, in the order in which they were added. */
  listDocumentEvents(agentId: string, most: number): Promise<Document[]>
  /** Marks events as queued for webhooks. `updatedAt` is that of the document in the event. */
  deleteDocumentEvents(agentId: string, told: { id: string; updatedAt: number }[]): Promise<void>
  /** Calls back when a document was indexed or failed. */
  onDocumentEnded(tell: (outcome: 'ready' | 'failed') => void): void
  /** Returns the number of agents with documents that this process has yet to index. */
  ingesting(): number
  /** Calls back when an agent has new passages, a failed document, or passages that no process embeds any longer. */
  onIndexed(tell: (agentId: string) => void): void
  /** Resolves to true if the agent ever received a document. */
  hasBase(agentId: string, askedBy?: string): Promise<boolean>
  retrieve(agentId: string, input: RetrieveInput): Promise<Retrieval>
  extract(agentId: string, input: ExtractInput): Promise<Extract>
  suggest(agentId: string, input: SuggestInput): Promise<Suggestion[]>
  /** Returns the agents with stored data. */
  agents(): string[]
  /** Deletes all data of an agent, including its file. */
  deleteAgent(agentId: string): Promise<void>
  /** Returns the wait of the oldest question in milliseconds. `asker` limits it to the questions of one key to one agent. */
  waitMs(asker?: { agentId: string; askedBy: string }): number
  /** Resumes work that a crash left queued or unfinished. */
  start(): Promise<void>
  close(): Promise<void>
}
