import assert from 'node:assert/strict'
import { Ajv, type ValidateFunction } from 'ajv'
import { TIMESTAMP, UUID } from './assert.ts'
import type { Schema } from './made-from-schema.ts'

/** An operation as described by `/openapi.json`. */
export interface Described {
  operationId: string
  parameters: { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

export interface OpenApi {
  paths: Record<string, Record<string, Described>>
  components: { schemas: { Error: Schema } }
}

interface Answered {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

export const MAX_FAILURE_CHARS = 20_000
/** Internals that responses must never contain. */
export const INSIDE = /\bat \S+ \(|:\d+:\d+\)|node_modules|\.ts\b|\bSELECT\b|sqlite|postgres|\/tmp\/|\/src\/|secret-instructions/i

/** Returns a function that checks responses against the service's own OpenAPI document. */
export function contractChecks({ components, paths }: OpenApi) {
  const ajv = new Ajv({ allErrors: true, strict: true, strictTypes: false, allowUnionTypes: true })
  ajv.addFormat('uuid', UUID)
  ajv.addFormat('date-time', TIMESTAMP)
  ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/)
  const compiled = new Map<Schema, ValidateFunction>()
  const matches = (schema: Schema, value: unknown, of: string) => {
    let validate = compiled.get(schema)
    if (validate === undefined) {
      validate = ajv.compile(closed(schema))
      compiled.set(schema, validate)
    }
    assert.ok(validate(value), `${of}: ${ajv.errorsText(validate.errors)}`)
  }
  const operations = new Map(Object.values(paths).flatMap((of) => Object.values(of).map((op) => [op.operationId, op] as const)))
  const answerOf = (id: string) =>
    Object.values(operations.get(id)!.responses).find(({ content }) => content?.['application/json'])!.content![
      'application/json'
    ]!.schema

  const isFailure = ({ status, headers, text }: Answered) => {
    assert.ok(status >= 400 && status < 500, text)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    const body = JSON.parse(text)
    matches(components.schemas.Error, body, text)
    assert.equal(body.error.requestId, headers['x-request-id'])
    assert.notEqual(body.error.message, '')
    assert.ok(text.length < MAX_FAILURE_CHARS, 'a refusal is no echo of the request')
    // Positions in the request use the caller's own names.
    assert.doesNotMatch(text, INSIDE)
  }

  const isSuccess = ({ operationId, responses }: Described, { status, headers, text }: Answered) => {
    const [mediaType] = String(headers['content-type']).split(';')
    const described = responses[status]?.content?.[mediaType!]
    assert.ok(described, `${operationId} answers ${status} with ${mediaType}`)
    if (mediaType === 'application/json') matches(described.schema, JSON.parse(text), text)
    else if (mediaType === 'application/x-ndjson') for (const line of text.trimEnd().split('\n')) assert.ok(JSON.parse(line).type)
    else {
      const data = text.match(/^data: .*$/gm) ?? []
      const last = JSON.parse(data.at(-1)!.slice(6))
      assert.match(text, /^event: turn\.(completed|failed)$/m)
      if ('error' in last) assert.notEqual(last.error.code, 'internal_error', text)
      else matches(answerOf('sendMessage'), last, text)
    }
  }

  /** Asserts that the contract allows a response, for any request. */
  return (op: Described, answer: Answered): void => {
    const { status, headers, text } = answer
    assert.ok(status < 500, text)
    assert.ok(headers['x-request-id'], 'X-Request-Id')
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    if (status < 300) isSuccess(op, answer)
    else isFailure(answer)
  }
}

/** Returns the schema without undescribed properties. */
function closed(schema: Schema): Schema {
  const inner = Object.entries(schema).map(([name, value]) => {
    if (name === 'properties') {
      const properties = Object.entries(value as Record<string, Schema>).map(([key, one]) => [key, closed(one)] as const)
      return [name, Object.fromEntries(properties)]
    }
    if (name === 'items') return [name, closed(value as Schema)]
    if (name === 'anyOf') return [name, (value as Schema[]).map(closed)]
    return [name, value]
  })
  const { description: _, examples: __, default: ___, ...copy } = Object.fromEntries(inner)
  return 'properties' in copy ? { ...copy, additionalProperties: false } : copy
}
