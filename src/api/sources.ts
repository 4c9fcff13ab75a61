import { siteDefaults, siteStatuses, siteTypes } from '../core/site.ts'
import { AgentPath, closed, Limit, Nothing, Pagination, Success, Timestamp, Uuid } from './fields.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

const SourcePath = Type.Object({ agentId: Uuid('The agent.'), sourceId: Uuid('The source.') }, closed)
const count = (description: string) => Type.Integer({ minimum: 0, description })
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()])
const type = Type.Enum([...siteTypes], {
  description: '`url`: one page. `sitemap`: the pages that a sitemap names. `site`: those that links lead to, from the first.',
})
const Source = Type.Object({
  id: Uuid('Source ID.'),
  type,
  url: Type.String(),
  maxPages: Type.Integer(),
  maxDepth: Type.Integer(),
  refreshHours: orNull(Type.Number()),
  status: Type.Enum([...siteStatuses]),
  error: orNull(Type.Object({ code: Type.String(), message: Type.String() })),
  pages: Type.Object(
    {
      found: count('Found so far.'),
      taken: count('New or changed.'),
      unchanged: count('As they were.'),
      failed: count('Not had; a document that one has already stays.'),
    },
    { description: 'Of the last time that it was brought up to date, or of the one under way.' },
  ),
  documents: count('Documents that came with it.'),
  syncedAt: orNull(Timestamp('When it was last brought up to date.')),
  nextSyncAt: orNull(Timestamp('When that is next due.')),
  createdAt: Timestamp('When it was added.'),
  updatedAt: Timestamp('When it last changed.'),
})
const answer = Type.Object({ success: Success, source: Source })

export const sourceOperations = () => ({
  addSource: operation({
    id: 'addSource',
    method: 'POST',
    path: '/agents/{agentId}/sources',
    tag: 'Knowledge',
    summary: 'Keep the knowledge base in step with pages of the web',
    description:
      'They are fetched in the background, as robots.txt allows, and become documents. The same type and URL are the same source: it is updated, and keeps the settings that the request does not name.',
    isAudited: true,
    scopes: ['knowledge'],
    params: AgentPath,
    query: Nothing,
    body: Type.Object(
      {
        type,
        url: Type.String({
          minLength: 1,
          maxLength: 4_096,
          description: 'The page, the sitemap, or the first page of the site.',
        }),
        maxPages: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 10_000, description: `${siteDefaults.maxPages} for a new source.` }),
        ),
        maxDepth: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 20,
            description: `Links away from the first page; of a \`site\`. ${siteDefaults.maxDepth} for a new source.`,
          }),
        ),
        refreshHours: Type.Optional(
          Type.Union([Type.Number({ minimum: 0.25, maximum: 8_760 }), Type.Null()], {
            description: 'Hours between refreshes. null, and for a new source left out: only on request.',
          }),
        ),
      },
      closed,
    ),
    status: 202,
    response: answer,
  }),
  listSources: operation({
    id: 'listSources',
    method: 'GET',
    path: '/agents/{agentId}/sources',
    tag: 'Knowledge',
    summary: 'List sources, newest first',
    scopes: ['knowledge'],
    params: AgentPath,
    query: Type.Object(
      { cursor: Type.Optional(Uuid('ID of the source after which the page starts.')), limit: Type.Optional(Limit) },
      closed,
    ),
    status: 200,
    response: Type.Object({ success: Success, sources: Type.Array(Source), pagination: Pagination }),
  }),
  getSource: operation({
    id: 'getSource',
    method: 'GET',
    path: '/agents/{agentId}/sources/{sourceId}',
    tag: 'Knowledge',
    summary: 'Read the state of a source',
    scopes: ['knowledge'],
    params: SourcePath,
    query: Nothing,
    status: 200,
    response: answer,
  }),
  refreshSource: operation({
    id: 'refreshSource',
    method: 'POST',
    path: '/agents/{agentId}/sources/{sourceId}/refresh',
    tag: 'Knowledge',
    summary: 'Bring a source up to date now',
    isAudited: true,
    scopes: ['knowledge'],
    params: SourcePath,
    query: Nothing,
    status: 202,
    response: answer,
  }),
  deleteSource: operation({
    id: 'deleteSource',
    method: 'DELETE',
    path: '/agents/{agentId}/sources/{sourceId}',
    tag: 'Knowledge',
    summary: 'Remove a source with the documents that came with it',
    isAudited: true,
    scopes: ['knowledge'],
    params: SourcePath,
    query: Nothing,
    status: 200,
    response: Type.Object({ success: Success, message: Type.String() }),
  }),
})
