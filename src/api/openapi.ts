import type { TSchema } from 'typebox'
import { Type } from 'typebox'
import { errorCodes } from '../core/errors.ts'
import type { Contract } from './contract.ts'
import type { Operation } from './operation.ts'

const ErrorBody = Type.Object({
  success: Type.Literal(false),
  error: Type.Object({
    code: Type.Enum([...errorCodes]),
    message: Type.String(),
    requestId: Type.String(),
    details: Type.Optional(Type.Array(Type.Object({ path: Type.String({ examples: ['body.name'] }), message: Type.String() }))),
  }),
})

/** The whole contract as an OpenAPI 3.1 document. */
export function toOpenApi(contract: Contract, baseUrl: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const op of Object.values(contract) as Operation[]) {
    paths[op.path] = { ...paths[op.path], [op.method.toLowerCase()]: toOperation(op) }
  }
  return {
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
  }
}

function toOperation(op: Operation): object {
  return {
    operationId: op.id,
    tags: [op.tag],
    summary: op.summary,
    ...(op.description === undefined ? {} : { description: op.description }),
    parameters: [...toParameters(op.params, 'path'), ...toParameters(op.query, 'query')],
    ...(op.body === undefined ? {} : { requestBody: { required: true, content: toContent(op) } }),
    responses: {
      [op.status]: { description: 'Success', content: { 'application/json': { schema: op.response } } },
      default: { description: 'Failure', content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
    },
  }
}

function toParameters(schema: Operation['params'], place: 'path' | 'query'): object[] {
  const required = (schema as { required?: string[] }).required ?? []
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: property,
  }))
}

const Upload = Type.Object({
  file: Type.String({ format: 'binary' }),
  title: Type.Optional(Type.String()),
  metadata: Type.Optional(Type.String()),
})

function toContent({ body, upload }: Operation): Record<string, { schema: TSchema }> {
  return { 'application/json': { schema: body! }, ...(upload ? { 'multipart/form-data': { schema: Upload } } : {}) }
}
