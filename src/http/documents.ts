import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { deleteIfAgentIsGone } from '../agents/agents.ts'
import type { Contract } from '../api/contract.ts'
import type { BodyOf } from '../api/operation.ts'
import type { Document, ListedDocument, Metadata, NewDocument } from '../core/document.ts'
import { documentNotFound, invalid } from '../core/errors.ts'
import { invalidCursor } from '../core/page.ts'
import { pageLimit } from '../core/ports/limits.ts'
import { toIso } from '../core/time.ts'
import { traceRetrieval } from '../reply/retrieval-trace.ts'
import { retrieve } from '../retrieval/retrieve.ts'
import type { Deps } from './deps.ts'
import { JsonText } from './json/json-text.ts'
import { admitBody } from './route/admit.ts'
import { refuseUnkeepable } from './route/body.ts'
import { pageUrl } from './route/page-url.ts'
import { toPagination } from './route/pagination.ts'
import { type Call, route } from './route/route.ts'
import { isUpload, readUpload, type Upload } from './route/upload.ts'
import { validator } from './route/validation.ts'

export const toDocument = <D extends Omit<Document, 'metadata'>>({ sourceId, ...d }: D) => ({
  ...d,
  ...(sourceId === null ? {} : { sourceId }),
  createdAt: toIso(d.createdAt),
  updatedAt: toIso(d.updatedAt),
})

/** Returns the JSON text of a document exactly as the contract has it. */
function toText({ metadataJson, ...document }: ListedDocument): string {
  return `${JSON.stringify(toDocument(document)).slice(0, -1)},"metadata":${metadataJson}}`
}

type Content = BodyOf<Contract['addDocument']>
const kinds = { text: 'text/plain', markdown: 'text/markdown', html: 'text/html' } as const

export function documentRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  const { knowledge } = deps
  const checkFields = validator(contract.addDocument.body!, 'body')

  const readFile = async (request: FastifyRequest): Promise<NewDocument> => {
    const upload = await readUpload(request, deps.limits.maxUploadBytes)
    await admitBody(request)
    return fromUpload(upload, checkFields)
  }

  /** Reads a document that is sent as JSON with its text or address, or as a file. */
  const read = async (request: FastifyRequest, body: Content): Promise<NewDocument> => {
    if (isUpload(request)) return readFile(request)
    const given = (['text', 'markdown', 'html', 'url'] as const).filter((kind) => body[kind] !== undefined)
    const [kind] = given
    if (kind === undefined || given.length > 1) throw invalid('body', 'must hold exactly one of text, markdown, html and url')
    const { title, metadata = {} } = body
    const about = { ...(title === undefined ? {} : { title }), metadata: metadata as Metadata }
    if (kind === 'url') return { ...about, source: { type: 'url', url: pageUrl('body.url', body.url!) }, mediaType: '' }
    return { ...about, source: { type: 'text' }, mediaType: kinds[kind], content: await toBytes(body[kind]!) }
  }

  const add = async ({ agent, once, key }: Pick<Call<Contract['addDocument']>, 'agent' | 'once' | 'key'>, given: NewDocument) => {
    const { content = new Uint8Array(0), ...about } = given
    return once([JSON.stringify(about), content], async () => {
      const document = await knowledge.addDocument(agent.id, given, key.id)
      await deleteIfAgentIsGone(deps, agent.id)
      return { document: toDocument(document) }
    })
  }
  route(app, deps, contract.addDocument, async (call) => add(call, await read(call.request, call.body)))
  route(app, deps, contract.uploadDocument, async (call) => add(call, await readFile(call.request)))

  const replace = async (agentId: string, id: string, askedBy: string, content: () => Promise<NewDocument>) => {
    found(await knowledge.findDocument(agentId, id, askedBy))
    return { document: toDocument(found(await knowledge.replaceDocument(agentId, id, await content(), askedBy))) }
  }
  route(app, deps, contract.replaceDocument, ({ agent, params, key, request, body }) =>
    replace(agent.id, params.documentId, key.id, () => read(request, body)),
  )
  route(app, deps, contract.replaceDocumentWithFile, ({ agent, params, key, request }) =>
    replace(agent.id, params.documentId, key.id, () => readFile(request)),
  )

  route(app, deps, contract.listDocuments, async ({ agent, query, key }) => {
    const { limit = pageLimit.default, cursor, status } = query
    const page = await knowledge.listDocuments(agent.id, {
      limit,
      ...(cursor && { cursor: cursor.toLowerCase() }),
      ...(status && { status }),
      askedBy: key.id,
    })
    if (page === undefined) throw invalidCursor('a document')
    const documents = page.items.map(toText).join(',')
    return new JsonText(`{"success":true,"documents":[${documents}],"pagination":${JSON.stringify(toPagination(page))}}`)
  })

  route(app, deps, contract.getDocument, async ({ agent, params, key }) => ({
    document: toDocument(found(await knowledge.findDocument(agent.id, params.documentId, key.id))),
  }))

  route(app, deps, contract.listPassages, async ({ agent, params, query, key }) => {
    const { limit = pageLimit.default, cursor } = query
    found(await knowledge.findDocument(agent.id, params.documentId, key.id))
    const page = await knowledge.listPassages(agent.id, params.documentId, {
      limit,
      ...(cursor && { cursor: cursor.toLowerCase() }),
      askedBy: key.id,
    })
    if (page === undefined) throw invalidCursor('a passage')
    return { passages: page.items, pagination: toPagination(page) }
  })

  route(app, deps, contract.updateDocument, async ({ agent, params, key, body }) => {
    const { title, metadata } = body
    const change = {
      ...(title === undefined ? {} : { title }),
      ...(metadata === undefined ? {} : { metadata: metadata as Metadata }),
    }
    return { document: toDocument(found(await knowledge.updateDocument(agent.id, params.documentId, change, key.id))) }
  })

  route(app, deps, contract.deleteDocument, async ({ agent, params }) => {
    if (!(await knowledge.deleteDocument(agent.id, params.documentId))) throw documentNotFound()
    return { message: 'The document was removed from the knowledge base.' }
  })

  route(app, deps, contract.search, async ({ agent, body, key }) => {
    const { query, topK = 10, history = [], filter, include = [] } = body
    const asked = { query, topK, history, ...(filter === undefined ? {} : { filter: filter as Metadata }) }
    const payer = { agent, userId: key.userId, key }
    const retrieval = await retrieve(deps, payer, asked, new AbortController().signal)
    const { hits, confidence } = retrieval
    const trace = { grounding: { confidence }, ...traceRetrieval(agent, retrieval) }
    return { hits, ...(include.includes('trace') ? { trace } : {}) }
  })
}

/** Characters that are encoded without a break. Other requests run after each piece. */
const PIECE_CHARS = 4_194_304
const utf8 = new TextEncoder()

/** Encodes a well-formed text as UTF-8. */
async function toBytes(text: string): Promise<Uint8Array> {
  if (text.length <= PIECE_CHARS) return Buffer.from(text)
  const bytes = new Uint8Array(Buffer.byteLength(text))
  for (let from = 0, at = 0; from < text.length; ) {
    const to = from + PIECE_CHARS
    // Do not cut a character above U+FFFF in two.
    const isCut = (text.charCodeAt(to - 1) & 0xfc00) === 0xd800
    const { read, written } = utf8.encodeInto(text.slice(from, isCut ? to - 1 : to), bytes.subarray(at))
    from += read
    at += written
    await nextTurn()
  }
  return bytes
}

function fromUpload({ filename, mediaType, content, title, metadata }: Upload, check: (fields: unknown) => void): NewDocument {
  const given = metadata === undefined || metadata.trim() === '' ? undefined : parseMetadata(metadata)
  const fields = {
    ...(title === undefined || title.trim() === '' ? {} : { title }),
    ...(given === undefined ? {} : { metadata: given }),
  }
  check(fields)
  if (content.length === 0) throw invalid('body.file', 'must not be empty')
  return { ...fields, source: { type: 'file', filename }, mediaType, content, metadata: (given as Metadata | undefined) ?? {} }
}

function found(document: Document | undefined): Document {
  if (document === undefined) throw documentNotFound()
  return document
}

function parseMetadata(text: string): unknown {
  let metadata: unknown
  try {
    metadata = JSON.parse(text)
  } catch {
    throw invalid('body.metadata', 'must be a JSON object, as text')
  }
  refuseUnkeepable('body.metadata', metadata)
  return metadata
}
