import type { MetadataValue } from './agent.ts'

export const documentStatuses = ['queued', 'processing', 'ready', 'failed'] as const
export type DocumentStatus = (typeof documentStatuses)[number]

export type DocumentSource = { type: 'text' } | { type: 'file'; filename: string } | { type: 'url'; url: string }

export type Metadata = Record<string, MetadataValue | MetadataValue[]>

/** An ingested document. Its text is stored as passages. */
export interface Document {
  id: string
  title: string
  source: DocumentSource
  /** The detected type, e.g. `text/markdown`. */
  mediaType: string
  bytes: number
  metadata: Metadata
  status: DocumentStatus
  /** 0 to 1. */
  progress: number
  /** Why the document failed, and how to fix it. */
  error: { code: string; message: string } | null
  passageCount: number
  /** The site that the document belongs to. Null if it was added by itself. */
  sourceId: string | null
  createdAt: number
  updatedAt: number
}

/** A document in a list. Its metadata is JSON text, which costs a hundredth of an object to copy and to write. */
export type ListedDocument = Omit<Document, 'metadata'> & { metadataJson: string }

export interface NewDocument {
  /** Defaults to a title from the content (first heading, HTML title), else the file name, else the first words. */
  title?: string
  source: DocumentSource
  mediaType: string
  /** If absent, the content is fetched from the source, which is then a URL. */
  content?: Uint8Array
  metadata: Metadata
}

/** A piece of a document. The texts of its passages, in order of `index`, are the document's extracted text. */
export interface Passage {
  id: string
  index: number
  text: string
  /** The headings above the passage, outermost first, joined by ` › `. Empty if there are none. */
  heading: string
  /** The page number from 1. Null if the document has no pages. */
  page: number | null
}
