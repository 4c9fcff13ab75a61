import { pause } from '../cancel.ts'
import type { Connection } from '../connection.ts'
import { eachItem } from '../pages.ts'
import { type PostOptions, path, type RequestOptions, request } from '../request.ts'
import type {
  AddDocumentBody,
  AddDocumentResponse,
  DeleteDocumentResponse,
  Document,
  GetDocumentResponse,
  ListDocumentsQuery,
  ListDocumentsResponse,
  ListPassagesQuery,
  ListPassagesResponse,
  Metadata,
  Passage,
  ReplaceDocumentBody,
  ReplaceDocumentResponse,
  ReplaceDocumentWithFileResponse,
  SearchBody,
  SearchResponse,
  UpdateDocumentBody,
  UpdateDocumentResponse,
  UploadDocumentResponse,
} from '../types.ts'

/** A file from a form or from `openAsBlob` of node:fs, or its bytes. A stream is read completely before sending, so that a retry can repeat it. */
export type FileContent = Blob | ReadableStream<Uint8Array> | Uint8Array

export interface FileOptions {
  /** The file extension determines the format. Default: the name of a `File`. */
  filename?: string | undefined
  /** Default: taken from the content. */
  title?: string | undefined
  metadata?: Metadata | undefined
}

const all = (agentId: string) => path`/agents/${agentId}/documents`
const one = (agentId: string, documentId: string) => path`/agents/${agentId}/documents/${documentId}`

/** Adds a document from a text or a URL. The service reads and indexes it in the background. */
export const add = (
  to: Connection,
  agentId: string,
  body: AddDocumentBody,
  options?: PostOptions,
): Promise<AddDocumentResponse> => request(to, { method: 'POST', path: all(agentId), body }, options)

/** Adds a file. The service reads and indexes it in the background. */
export const upload = async (
  to: Connection,
  agentId: string,
  file: FileContent,
  { filename, title, metadata, ...options }: FileOptions & PostOptions = {},
): Promise<UploadDocumentResponse> => {
  const body = await toForm(file, { filename, title, metadata })
  return request(to, { method: 'POST', path: path`/agents/${agentId}/documents/upload`, body }, options)
}

/** Replaces a document with a text or a URL. Replies use the old content until the new content is ready. */
export const replace = (
  to: Connection,
  agentId: string,
  documentId: string,
  body: ReplaceDocumentBody,
  options?: RequestOptions,
): Promise<ReplaceDocumentResponse> => request(to, { method: 'PUT', path: one(agentId, documentId), body }, options)

/** Replaces a document with a file. Replies use the old content until the new content is ready. */
export const replaceFile = async (
  to: Connection,
  agentId: string,
  documentId: string,
  file: FileContent,
  { filename, title, metadata, ...options }: FileOptions & RequestOptions = {},
): Promise<ReplaceDocumentWithFileResponse> => {
  const body = await toForm(file, { filename, title, metadata })
  return request(to, { method: 'PUT', path: path`/agents/${agentId}/documents/${documentId}/upload`, body }, options)
}

async function toForm(file: FileContent, { filename, title, metadata }: FileOptions): Promise<FormData> {
  const content = file instanceof ReadableStream ? await new Response(file).blob() : file
  const blob = content instanceof Blob ? content : new Blob([content as Uint8Array<ArrayBuffer>])
  const form = new FormData()
  if (title !== undefined) form.append('title', title)
  if (metadata !== undefined) form.append('metadata', JSON.stringify(metadata))
  form.append('file', blob, filename)
  return form
}

/** Lists documents, newest first, a page at a time. */
export const list = (
  to: Connection,
  agentId: string,
  query?: ListDocumentsQuery,
  options?: RequestOptions,
): Promise<ListDocumentsResponse> => request(to, { method: 'GET', path: all(agentId), query }, options)

/** All documents, newest first. */
export const iterate = (
  to: Connection,
  agentId: string,
  query?: ListDocumentsQuery,
  options?: RequestOptions,
): AsyncGenerator<Document, void> =>
  eachItem(
    query,
    (page) => list(to, agentId, { ...query, ...page }, options),
    ({ documents }) => documents,
  )

/** Reads the state of a document. */
export const get = (
  to: Connection,
  agentId: string,
  documentId: string,
  options?: RequestOptions,
): Promise<GetDocumentResponse> => request(to, { method: 'GET', path: one(agentId, documentId) }, options)

const LOOK_EVERY_MS = 500

/** Polls a document twice a second. Resolves to it when its `status` is `ready` or `failed`. */
export const whenDone = async (
  to: Connection,
  agentId: string,
  documentId: string,
  options: RequestOptions = {},
): Promise<Document> => {
  for (;;) {
    const { document } = await get(to, agentId, documentId, options)
    if (document.status === 'ready' || document.status === 'failed') return document
    await pause(LOOK_EVERY_MS, options.signal)
  }
}

/** Changes the title or the metadata of a document. */
export const update = (
  to: Connection,
  agentId: string,
  documentId: string,
  body: UpdateDocumentBody,
  options?: RequestOptions,
): Promise<UpdateDocumentResponse> => request(to, { method: 'PATCH', path: one(agentId, documentId), body }, options)

/** Deletes a document. Retrieval stops using it immediately. */
const remove = (to: Connection, agentId: string, documentId: string, options?: RequestOptions): Promise<DeleteDocumentResponse> =>
  request(to, { method: 'DELETE', path: one(agentId, documentId) }, options)

export { remove as delete }

/** Reads the extracted text of a document, one page of passages at a time. */
export const passages = (
  to: Connection,
  agentId: string,
  documentId: string,
  query?: ListPassagesQuery,
  options?: RequestOptions,
): Promise<ListPassagesResponse> =>
  request(to, { method: 'GET', path: path`/agents/${agentId}/documents/${documentId}/passages`, query }, options)

/** All passages of a document, in order. */
export const iteratePassages = (
  to: Connection,
  agentId: string,
  documentId: string,
  query?: ListPassagesQuery,
  options?: RequestOptions,
): AsyncGenerator<Passage, void> =>
  eachItem(
    query,
    (page) => passages(to, agentId, documentId, page, options),
    (page) => page.passages,
  )

/** Finds the passages that a reply would be grounded in. */
export const search = (to: Connection, agentId: string, body: SearchBody, options?: PostOptions): Promise<SearchResponse> =>
  request(to, { method: 'POST', path: path`/agents/${agentId}/search`, body }, options)
