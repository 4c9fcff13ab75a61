import { documentStatuses } from '../core/document.ts'
import type { Limits } from '../core/ports/limits.ts'
import { MetadataMap } from './agents.ts'
import { AgentPath, closed, FilledText, Limit, Nothing, Pagination, Success, Timestamp, Uuid } from './fields.ts'
import { GivenHistory, Trace } from './messages.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

const DocumentPath = Type.Object({ agentId: Uuid('The agent.'), documentId: Uuid('The document.') }, closed)
const Source = Type.Object({
  type: Type.Enum(['text', 'file', 'url']),
  filename: Type.Optional(
    Type.String({ description: 'The name that the file was sent with; may begin with folders: `guides/start.md`.' }),
  ),
  url: Type.Optional(Type.String()),
})
const Document = Type.Object({
  id: Uuid('Document ID.'),
  title: Type.String(),
  source: Source,
  mediaType: Type.String({ examples: ['text/markdown'] }),
  bytes: Type.Integer(),
  metadata: MetadataMap,
  status: Type.Enum([...documentStatuses]),
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()]),
  passageCount: Type.Integer(),
  sourceId: Type.Optional(Uuid('The site that it came with.')),
  createdAt: Timestamp('When it was added.'),
  updatedAt: Timestamp('When it last changed.'),
})
const Passage = Type.Object({
  id: Uuid('Passage ID.'),
  index: Type.Integer({ description: 'Place in the document, from 0.' }),
  text: Type.String(),
  heading: Type.String({ description: 'The headings above it, outermost first.' }),
  page: Type.Union([Type.Integer(), Type.Null()]),
})
export const Hit = Type.Object({
  documentId: Uuid('The document.'),
  passageId: Uuid('The passage.'),
  title: Type.String(),
  heading: Type.String(),
  text: Type.String(),
  score: Type.Number({ description: 'Compares within one answer only.' }),
  url: Type.Union([Type.String(), Type.Null()]),
})
const { query, retrieval, passages } = Trace.properties
const SearchTrace = Type.Object({
  grounding: Type.Object({
    confidence: Type.Number({ minimum: 0, maximum: 1, description: 'How sure it is that the passages hold the answer.' }),
  }),
  query,
  retrieval,
  passages,
})

export const documentOperations = (limits: Limits) => {
  const title = FilledText(1_000, 'Left out: taken from the content.')
  const text = (kind: string) =>
    Type.Optional(Type.String({ minLength: 1, pattern: '\\S', description: `The document as ${kind}.` }))
  const content = Type.Object(
    {
      title: Type.Optional(title),
      text: text('plain text'),
      markdown: text('Markdown'),
      html: text('HTML'),
      url: Type.Optional(
        Type.String({ minLength: 1, maxLength: 4_096, description: 'Where the document is to be fetched from.' }),
      ),
      metadata: Type.Optional(MetadataMap),
    },
    {
      ...closed,
      description:
        'Exactly one of `text`, `markdown`, `html` and `url`. A file is sent as `multipart/form-data`, here or to the upload operation.',
    },
  )
  const answer = Type.Object({ success: Success, document: Document })
  return {
    addDocument: operation({
      id: 'addDocument',
      method: 'POST',
      path: '/agents/{agentId}/documents',
      tag: 'Knowledge',
      summary: 'Add a document to the knowledge base',
      description:
        'It is fetched, read and indexed in the background. The same title and bytes are the same document; so is the same URL, which is fetched anew.',
      isAudited: true,
      scopes: ['knowledge'],
      params: AgentPath,
      query: Nothing,
      body: content,
      upload: 'also',
      status: 202,
      response: answer,
    }),
    uploadDocument: operation({
      id: 'uploadDocument',
      method: 'POST',
      path: '/agents/{agentId}/documents/upload',
      tag: 'Knowledge',
      summary: 'Add a file to the knowledge base',
      description: 'It is read and indexed in the background. The same title and bytes are the same document.',
      isAudited: true,
      scopes: ['knowledge'],
      params: AgentPath,
      query: Nothing,
      upload: 'only',
      status: 202,
      response: answer,
    }),
    listDocuments: operation({
      id: 'listDocuments',
      method: 'GET',
      path: '/agents/{agentId}/documents',
      tag: 'Knowledge',
      summary: 'List documents, newest first',
      description: 'A page holds fewer documents than `limit` where their metadata is large.',
      scopes: ['knowledge'],
      params: AgentPath,
      query: Type.Object(
        {
          status: Type.Optional(Type.Enum([...documentStatuses])),
          cursor: Type.Optional(Uuid('ID of the document after which the page starts.')),
          limit: Type.Optional(Limit),
        },
        closed,
      ),
      status: 200,
      response: Type.Object({ success: Success, documents: Type.Array(Document), pagination: Pagination }),
    }),
    getDocument: operation({
      id: 'getDocument',
      method: 'GET',
      path: '/agents/{agentId}/documents/{documentId}',
      tag: 'Knowledge',
      summary: 'Read the state of a document',
      scopes: ['knowledge'],
      params: DocumentPath,
      query: Nothing,
      status: 200,
      response: answer,
    }),
    listPassages: operation({
      id: 'listPassages',
      method: 'GET',
      path: '/agents/{agentId}/documents/{documentId}/passages',
      tag: 'Knowledge',
      summary: 'Read a document as the service read it',
      scopes: ['knowledge'],
      params: DocumentPath,
      query: Type.Object(
        { cursor: Type.Optional(Uuid('ID of the passage after which the page starts.')), limit: Type.Optional(Limit) },
        closed,
      ),
      status: 200,
      response: Type.Object({ success: Success, passages: Type.Array(Passage), pagination: Pagination }),
    }),
    replaceDocument: operation({
      id: 'replaceDocument',
      method: 'PUT',
      path: '/agents/{agentId}/documents/{documentId}',
      tag: 'Knowledge',
      summary: 'Replace a document',
      description: 'The old content answers until the new is ready.',
      isAudited: true,
      scopes: ['knowledge'],
      params: DocumentPath,
      query: Nothing,
      body: content,
      upload: 'also',
      status: 202,
      response: answer,
    }),
    replaceDocumentWithFile: operation({
      id: 'replaceDocumentWithFile',
      method: 'PUT',
      path: '/agents/{agentId}/documents/{documentId}/upload',
      tag: 'Knowledge',
      summary: 'Replace a document with a file',
      description: 'The old content answers until the new is ready.',
      isAudited: true,
      scopes: ['knowledge'],
      params: DocumentPath,
      query: Nothing,
      upload: 'only',
      status: 202,
      response: answer,
    }),
    updateDocument: operation({
      id: 'updateDocument',
      method: 'PATCH',
      path: '/agents/{agentId}/documents/{documentId}',
      tag: 'Knowledge',
      summary: "Change a document's title or metadata",
      isAudited: true,
      scopes: ['knowledge'],
      params: DocumentPath,
      query: Nothing,
      body: Type.Object({ title: Type.Optional(title), metadata: Type.Optional(MetadataMap) }, closed),
      status: 200,
      response: answer,
    }),
    deleteDocument: operation({
      id: 'deleteDocument',
      method: 'DELETE',
      path: '/agents/{agentId}/documents/{documentId}',
      tag: 'Knowledge',
      summary: 'Remove a document; it is gone from retrieval at once',
      isAudited: true,
      scopes: ['knowledge'],
      params: DocumentPath,
      query: Nothing,
      status: 200,
      response: Type.Object({ success: Success, message: Type.String() }),
    }),
    search: operation({
      id: 'search',
      method: 'POST',
      path: '/agents/{agentId}/search',
      tag: 'Knowledge',
      summary: 'Find the passages that a reply would be grounded in',
      isReadOnly: true,
      scopes: ['knowledge'],
      params: AgentPath,
      query: Nothing,
      body: Type.Object(
        {
          query: FilledText(limits.maxMessageChars, 'The question.'),
          topK: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
          history: Type.Optional(GivenHistory(limits)),
          filter: Type.Optional(MetadataMap),
          include: Type.Optional(
            Type.Array(Type.Literal('trace'), { maxItems: 10, description: 'Further fields wanted in the answer.' }),
          ),
        },
        closed,
      ),
      status: 200,
      response: Type.Object({ success: Success, hits: Type.Array(Hit), trace: Type.Optional(SearchTrace) }),
    }),
  }
}
