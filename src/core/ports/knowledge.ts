import type { Document, DocumentStatus, ListedDocument, Metadata, NewDocument, Passage } from '../document.ts'
import type { KnowledgePageInput, Page } from '../page.ts'
import type { NewSite, Site } from '../site.ts'
import type { Extract, ExtractInput, Retrieval, RetrieveInput, SuggestInput, Suggestion } from './retrieval.ts'

/**
 * The knowledge base of each agent: its documents, and what can be found in them.
 * Every method resolves to undefined (or false) where the document is unknown, and throws `ReparteeError` only for defects of the store.
 */
export interface Knowledge {
  /**
   * Durable when it resolves; indexed in the background. The same title and bytes are the same document. `askedBy`: the key that asks, here and below. What
   * a change leaves to be done is done in turns of keys, and of the agents of a key.
   */
  addDocument(agentId: string, document: NewDocument, askedBy?: string): Promise<Document>
  /** The old content answers until the new is ready. */
  replaceDocument(agentId: string, documentId: string, document: NewDocument, askedBy?: string): Promise<Document | undefined>
  updateDocument(
    agentId: string,
    documentId: string,
    change: { title?: string; metadata?: Metadata },
    askedBy?: string,
  ): Promise<Document | undefined>
  /** Gone from retrieval when it resolves. */
  deleteDocument(agentId: string, documentId: string): Promise<boolean>
  findDocument(agentId: string, documentId: string, askedBy?: string): Promise<Document | undefined>
  /** Newest first. `cursor` is a document's id; undefined where it is none of this agent's. */
  listDocuments(
    agentId: string,
    page: KnowledgePageInput & { status?: DocumentStatus },
  ): Promise<Page<ListedDocument> | undefined>
  /** In reading order. `cursor` is a passage's id. */
  listPassages(agentId: string, documentId: string, page: KnowledgePageInput): Promise<Page<Passage> | undefined>
  /** Durable when it resolves; its pages are fetched in the background. The same type and URL are the same site. */
  addSite(agentId: string, site: NewSite, askedBy?: string): Promise<Site>
  /** Has it brought up to date in the background. */
  refreshSite(agentId: string, siteId: string, askedBy?: string): Promise<Site | undefined>
  /** With the documents that came with it. */
  deleteSite(agentId: string, siteId: string): Promise<boolean>
  findSite(agentId: string, siteId: string, askedBy?: string): Promise<Site | undefined>
  /** Newest first. `cursor` is a site's id; undefined where it is none of this agent's. */
  listSites(agentId: string, page: KnowledgePageInput): Promise<Page<Site> | undefined>
  count(agentId: string, askedBy?: string): Promise<{ documents: number; passages: number }>
  /** The model whose vectors the base is searched by now; undefined where there are none. */
  vectorModel(agentId: string, askedBy?: string): Promise<string | undefined>
  /**
   * Passages that still need a vector of this model, in order; where none does, the base is searched by this model's vectors from now on.
   * Among processes that share the knowledge one gets them, and again the next, for about a minute; the others get none.
   */
  takeUnembedded(agentId: string, model: string, most: number): Promise<{ id: number; text: string }[]>
  /** False where they are of no use any more. */
  putVectors(agentId: string, model: string, ids: number[], vectors: (Float32Array | null)[]): Promise<boolean>
  /**
   * Brings the vectors of a large base that is searched by this model into an index of the database's own, some at each call; `impossible` says why it cannot.
   * Nothing is to be done where the base is smaller, or no such index can be had.
   */
  growVectorIndex(agentId: string, model: string): Promise<'more' | 'done' | { impossible: string }>
  /** Documents that became ready, or failed, and of which it was not said yet that somebody was told; in the order that they were added in. */
  listNews(agentId: string, most: number): Promise<Document[]>
  /** They were told of, as they were at that time. */
  endNews(agentId: string, told: { id: string; updatedAt: number }[]): Promise<void>
  /** Calls back when a document was indexed, or could not be. */
  onDocumentEnded(tell: (outcome: 'ready' | 'failed') => void): void
  /** Agents with documents that this process has still to index. */
  ingesting(): number
  /** Calls back when an agent has new passages, or a document that failed, or some that no process embeds any more. */
  onIndexed(tell: (agentId: string) => void): void
  /** Whether the agent was ever given a document. */
  hasBase(agentId: string, askedBy?: string): Promise<boolean>
  retrieve(agentId: string, input: RetrieveInput): Promise<Retrieval>
  extract(agentId: string, input: ExtractInput): Promise<Extract>
  suggest(agentId: string, input: SuggestInput): Promise<Suggestion[]>
  /** The agents of which something is kept. */
  agents(): string[]
  /** Everything of an agent, its file included. */
  deleteAgent(agentId: string): Promise<void>
  /** Returns the wait of the oldest question in milliseconds. `asker` limits it to the questions of one key to one agent. */
  waitMs(asker?: { agentId: string; askedBy: string }): number
  /** Takes up what a crash left queued or half done. */
  start(): Promise<void>
  close(): Promise<void>
}
