import { errorCodes } from '../core/errors.ts'
import type { Contract } from './contract.ts'
import type { Operation } from './operation.ts'
import type { TObject, TSchema } from './schema.ts'
import { Type } from './schema.ts'

const ErrorBody = Type.Object({
  success: Type.Literal(false),
  error: Type.Object({
    code: Type.Enum([...errorCodes]),
    message: Type.String(),
    requestId: Type.String(),
    details: Type.Optional(Type.Array(Type.Object({ path: Type.String({ examples: ['body.name'] }), message: Type.String() }))),
  }),
})

/** Returns the whole contract as an OpenAPI 3.1 document. */
export function toOpenApi(contract: Contract, baseUrl: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const op of Object.values(contract) as Operation[]) {
    paths[op.path] = { ...paths[op.path], [op.method.toLowerCase()]: toOperation(op) }
  }
  return withoutOurKeywords({
    openapi: '3.1.0',
    info: {
      title: 'Repartee',
      version: '1',
      description: 'A headless chat service: sessions with AI agents, grounded in your own documents.',
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }, { bearer: [] }],
    paths,
    components: {
      schemas: { Error: ErrorBody },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  })
}

/** Removes our keyword, because strict validators of JSON Schema reject unknown keywords. */
const withoutOurKeywords = (document: object): object =>
  JSON.parse(JSON.stringify(document, (key, value: unknown) => (key === 'x-maxJsonBytes' ? undefined : value))) as object

function toOperation(op: Operation): object {
  return {
    operationId: op.id,
    tags: [op.tag],
    summary: op.summary,
    ...(op.description === undefined ? {} : { description: op.description }),
    parameters: [...toParameters(op.params, 'path'), ...toParameters(op.query, 'query'), ...headersOf(op)],
    ...toRequestBody(op),
    responses: {
      [op.status]: { description: 'Success', content: toAnswer(op) },
      ...(op.events === 'always' ? { 204: { description: 'Nothing is left to stream: the last event was seen.' } } : {}),
      default: { description: 'Failure', content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
    },
  }
}

/** Returns whether a body is required. An empty body counts as `{}`. An upload needs content, in a field or as a file, which its schema cannot express. */
const needsBody = ({ body, upload }: Operation): boolean =>
  upload !== undefined || (body as Partial<TObject>).required !== undefined

function toParameters(schema: Operation['params'], place: 'path' | 'query'): object[] {
  const required = (schema as { required?: string[] }).required ?? []
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: property,
  }))
}

const Header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: false,
  schema: Type.String({ maxLength: 255, description }),
})

function headersOf({ method, keepsNoAnswer, isReadOnly, events }: Operation): object[] {
  const headers = []
  if (method === 'POST' && !keepsNoAnswer && !isReadOnly)
    headers.push(Header('Idempotency-Key', 'The same for every try of one request: it has one effect, and one answer.'))
  if (events === 'always') headers.push(Header('Last-Event-ID', 'The id of the last event that was seen.'))
  return headers
}

const Events = Type.String({
  description: 'Server-sent events: turn.started, message.delta, then turn.completed or turn.failed.',
})

function toAnswer({ response, events, lines }: Operation): Record<string, { schema: TSchema }> {
  if (lines) return { 'application/x-ndjson': { schema: response } }
  return {
    ...(events === 'always' ? {} : { 'application/json': { schema: response } }),
    ...(events === undefined ? {} : { 'text/event-stream': { schema: Events } }),
  }
}

const Upload = Type.Object({
  file: Type.String({ format: 'binary', description: 'The file, with its name.' }),
  title: Type.Optional(Type.String({ description: 'Left out: taken from the content.' })),
  metadata: Type.Optional(Type.String({ description: 'A JSON object, as text.' })),
})

/** Documents one media type per operation, because generated clients support only one body. */
function toRequestBody(op: Operation): object {
  if (op.upload === 'only') return { requestBody: { required: true, content: { 'multipart/form-data': { schema: Upload } } } }
  if (op.body === undefined) return {}
  return { requestBody: { required: needsBody(op), content: { 'application/json': { schema: op.body } } } }
}
