import { pause } from './cancel.ts'
import type { Connection } from './connection.ts'
import { type PostOptions, path, type RequestOptions, request } from './request.ts'
import type {
  Document,
  GetDocumentInput,
  GetDocumentResponse,
  Metadata,
  ReplaceDocumentWithFileResponse,
  UploadDocumentResponse,
} from './types.ts'

/** A file from a form or from `openAsBlob` of node:fs, or its bytes. A stream is read completely before sending, so that a retry can repeat it. */
export type FileContent = Blob | ReadableStream<Uint8Array> | Uint8Array

/** Input of `documents.upload`. */
export interface UploadDocumentInput {
  agentId: string
  file: FileContent
  /** The file extension determines the format. Default: the name of a `File`. */
  filename?: string | undefined
  /** Default: taken from the content. */
  title?: string | undefined
  metadata?: Metadata | undefined
}

/** Input of `documents.replaceFile`. */
export interface ReplaceDocumentWithFileInput extends UploadDocumentInput {
  documentId: string
}

/** Adds a file. The service reads and indexes it in the background. */
export const upload = async (
  to: Connection,
  input: UploadDocumentInput,
  options?: PostOptions,
): Promise<UploadDocumentResponse> => {
  const { agentId } = input
  return request(to, { method: 'POST', path: path`/agents/${agentId}/documents/upload`, body: await toForm(input) }, options)
}

/** Replaces a document with a file. Replies use the old content until the new content is ready. */
export const replaceFile = async (
  to: Connection,
  input: ReplaceDocumentWithFileInput,
  options?: RequestOptions,
): Promise<ReplaceDocumentWithFileResponse> => {
  const { agentId, documentId } = input
  const url = path`/agents/${agentId}/documents/${documentId}/upload`
  return request(to, { method: 'PUT', path: url, body: await toForm(input) }, options)
}

async function toForm({ file, filename, title, metadata }: UploadDocumentInput): Promise<FormData> {
  const content = file instanceof ReadableStream ? await new Response(file).blob() : file
  const blob = content instanceof Blob ? content : new Blob([content as Uint8Array<ArrayBuffer>])
  const form = new FormData()
  if (title !== undefined) form.append('title', title)
  if (metadata !== undefined) form.append('metadata', JSON.stringify(metadata))
  form.append('file', blob, filename)
  return form
}

const LOOK_EVERY_MS = 500

/** Polls a document twice a second. Resolves to it when its `status` is `ready` or `failed`. */
export const whenDone = async (
  to: Connection,
  { agentId, documentId }: GetDocumentInput,
  options: RequestOptions = {},
): Promise<Document> => {
  for (;;) {
    const call = { method: 'GET', path: path`/agents/${agentId}/documents/${documentId}` } as const
    const { document } = await request<GetDocumentResponse>(to, call, options)
    if (document.status === 'ready' || document.status === 'failed') return document
    await pause(LOOK_EVERY_MS, options.signal)
  }
}
