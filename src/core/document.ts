import type { MetadataValue } from './agent.ts'

export const documentStatuses = ['queued', 'processing', 'ready', 'failed'] as const
export type DocumentStatus = (typeof documentStatuses)[number]

export type DocumentSource = { type: 'text' } | { type: 'file'; filename: string } | { type: 'url'; url: string }

export type Metadata = Record<string, MetadataValue | MetadataValue[]>

/** What was ingested. Its text lives on as passages. */
export interface Document {
  id: string
  title: string
  source: DocumentSource
  /** As the service recognised it, e.g. `text/markdown`. */
  mediaType: string
  bytes: number
  metadata: Metadata
  status: DocumentStatus
  /** 0 to 1. */
  progress: number
  /** Why the document failed, in words that a person can act on. */
  error: { code: string; message: string } | null
  passageCount: number
  /** The site that it came with; null where it was added by itself. */
  sourceId: string | null
  createdAt: number
  updatedAt: number
}

/** A document on a page of documents. Its metadata is JSON text, which costs a hundredth of an object to copy and to write. */
export type ListedDocument = Omit<Document, 'metadata'> & { metadataJson: string }

export interface NewDocument {
  /** Left out: taken from the content (first heading, HTML title), else from the file name, else the first words. */
  title?: string
  source: DocumentSource
  mediaType: string
  /** Left out: to be fetched from the source, which is a URL. */
  content?: Uint8Array
  metadata: Metadata
}

/** A piece of a document. The texts of a document's passages, in order of `index`, are the document as it was read. */
export interface Passage {
  id: string
  index: number
  text: string
  /** The headings above it, outermost first, joined by ` › `; empty where there are none. */
  heading: string
  /** From 1, in a document that has pages. */
  page: number | null
}
