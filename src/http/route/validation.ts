import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, KeywordCxt, ValidateFunction } from 'ajv'
import { distance } from 'fastest-levenshtein'
import { type ErrorDetail, ReparteeError } from '../../core/errors.ts'
import { isUuid } from '../../core/platform/ids.ts'
import { toShown } from './body.ts'

const require = createRequire(import.meta.url)
const opened: { all?: Ajv; first?: Ajv } = {}

/** Lengths are in characters (code points). Ajv counts all of them, which takes 100 ms for the text of the largest document. */
const LENGTHS: Record<string, (text: string, limit: number) => boolean> = {
  minLength: (text, limit) => text.length >= 2 * limit || countUpTo(limit, text) >= limit,
  maxLength: (text, limit) => !isLonger(text, limit),
}

/** Returns true if a text has more than `limit` characters. Stops counting there, because a text may fill a body. */
export const isLonger = (text: string, limit: number): boolean =>
  text.length > limit && (text.length > 2 * limit || countUpTo(limit + 1, text) > limit)

/** Returns the number of characters of a text, `most` at most. */
function countUpTo(most: number, text: string): number {
  let count = 0
  for (const _char of text) if (++count === most) break
  return count
}

/**
 * Returns true if a map of texts, numbers and lists of them takes at most `limit` bytes as JSON. A body may have 48 MB, so a map with too many characters is
 * not serialized. Neither is a value of another kind, which other keywords refuse.
 */
function fitsAsJson(limit: number, map: object): boolean {
  let chars = 0
  for (const value of Object.values(map).flat()) {
    if (typeof value === 'object') return true
    chars += String(value).length
    if (chars > limit) return false
  }
  return Buffer.byteLength(JSON.stringify(map)) <= limit
}

/** Loads Ajv at the first validation, because startup should not wait for its eighty files. */
function openAjv(tells: 'all' | 'first'): Ajv {
  const known = opened[tells]
  if (known !== undefined) return known
  const { Ajv, _ } = require('ajv') as typeof import('ajv')
  const ajv = new Ajv({
    allErrors: tells === 'all',
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
    useDefaults: false,
    coerceTypes: false,
  })
  ajv.addFormat('uuid', isUuid)
  ajv.addFormat('date-time', isDateTime)
  ajv.addKeyword('example')
  ajv.addKeyword({
    keyword: 'x-maxJsonBytes',
    type: 'object',
    schemaType: 'number',
    error: { message: ({ schema }) => `must have at most ${schema} bytes as JSON` },
    errors: false,
    validate: fitsAsJson,
  })
  for (const [keyword, ref] of Object.entries(LENGTHS))
    ajv.removeKeyword(keyword).addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      error: { message: keyword, params: ({ schema }: { schema: number }) => _`{limit: ${schema}}` },
      code: (context: KeywordCxt) =>
        context.pass(_`${context.gen.scopeValue('func', { ref })}(${context.data}, ${context.schema as number})`),
    })
  opened[tells] = ajv
  return ajv
}

/** ISO 8601 time with a zone. The year has four digits in UTC too, because responses use UTC. */
const DATE_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d):\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/
const FIRST = Date.parse('0000-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')
function isDateTime(text: string): boolean {
  const [, day, hour] = DATE_TIME.exec(text) ?? []
  const at = Date.parse(text)
  if (day === undefined || Number(hour) > 23 || !(at >= FIRST && at <= LAST)) return false
  // `Date` reads 30 February as 2 March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}
const MAX_DETAILS = 20
/** A name that differs from a known one by at most this many letters counts as a typo. */
const MAX_SLIP = 3

export type RequestPart = 'path' | 'query' | 'body' | 'arguments'

/**
 * Returns a check of a request part against its schema, compiled at first use. It throws `invalid_request` with each wrong field. With `tellsFirst`, it reports
 * only the first, because finding all errors takes long if a schema does not limit its lists.
 */
export function validator(schema: object, part: RequestPart, { tellsFirst = false } = {}): (data: unknown) => void {
  let validate: ValidateFunction | undefined
  return (data) => {
    validate ??= openAjv(tellsFirst ? 'first' : 'all').compile(schema)
    dropNulls(schema, data)
    if (part === 'body' || part === 'arguments') {
      // Other parts are as short as the head of a request.
      cutShort(schema, data)
      cutTexts(schema, data)
    }
    if (validate(data)) return
    const details = toDetails(validate.errors ?? [], part, schema)
    const [first] = details
    throw new ReparteeError('invalid_request', `${first!.path} ${first!.message}`, { details })
  }
}

interface Shape {
  type?: string
  maxLength?: number
  anyOf?: Shape[]
  properties?: Record<string, Shape>
  patternProperties?: Record<string, Shape>
  required?: string[]
  items?: Shape
  maxItems?: number
  maxProperties?: number
  propertyNames?: { maxLength?: number }
}

/** Deletes optional fields that are `null`, unless the schema allows null: `null` is the same as leaving the field out. */
function dropNulls(schema: Shape, data: unknown): void {
  if (Array.isArray(data)) {
    if (schema.items) for (const item of data) dropNulls(schema.items, item)
  } else if (typeof data === 'object' && data !== null && schema.properties) {
    const fields = data as Record<string, unknown>
    for (const [name, shape] of Object.entries(schema.properties)) {
      if (fields[name] !== null) dropNulls(shape, fields[name])
      else if (!schema.required?.includes(name) && !shape.anyOf?.some((s) => s.type === 'null')) delete fields[name]
    }
  }
}

/**
 * Cuts lists and maps that are too long to one item more than allowed. Each item may have several errors, and a megabyte contains half a million items:
 * reporting all would block the event loop for seconds.
 */
function cutShort(shape: Shape, data: unknown): void {
  for (const branch of shape.anyOf ?? []) cutShort(branch, data)
  if (Array.isArray(data)) {
    const { items, maxItems = data.length } = shape
    if (data.length > maxItems) data.length = maxItems + 1
    if (items) for (const item of data) cutShort(items, item)
  } else if (typeof data === 'object' && data !== null) {
    const fields = data as Record<string, unknown>
    const { properties = {}, patternProperties = {}, maxProperties } = shape
    if (maxProperties !== undefined) for (const name of Object.keys(fields).slice(maxProperties + 1)) delete fields[name]
    for (const [name, inner] of Object.entries(properties)) if (name in fields) cutShort(inner, fields[name])
    for (const inner of Object.values(patternProperties)) for (const value of Object.values(fields)) cutShort(inner, value)
  }
}

/**
 * Cuts texts and names that are far too long, so that they are still too long. A body may contain a text of 48 MB, and checking its pattern and size takes
 * long. A value with several allowed shapes is not cut, because another shape may allow more.
 */
function cutTexts({ properties = {}, patternProperties, propertyNames }: Shape, data: unknown): void {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return
  const fields = data as Record<string, unknown>
  for (const [name, shape] of Object.entries(properties)) {
    const value = fields[name]
    if (typeof value === 'string') fields[name] = cutText(value, shape.maxLength)
    else cutTexts(shape, value)
  }
  if (patternProperties === undefined) return
  for (const name of Object.keys(fields)) {
    const cut = cutText(name, propertyNames?.maxLength)
    if (cut === name) continue
    fields[cut] = fields[name]
    delete fields[name]
  }
}

/** A character may take two code units. */
const cutText = (text: string, maxLength = text.length) => (text.length > 2 * maxLength ? text.slice(0, 2 * maxLength + 1) : text)

/** Returns 20 details at most: a body of a megabyte may have half a million errors. */
function toDetails(errors: ErrorObject[], part: RequestPart, schema: object): ErrorDetail[] {
  const telling = errors.filter(isTelling)
  const details = new Map<string, ErrorDetail>()
  for (const error of telling.length > 0 ? telling : errors) {
    const detail = toDetail(error, part, schema)
    if (!details.has(detail.path)) details.set(detail.path, detail)
    if (details.size === MAX_DETAILS) break
  }
  return [...details.values()]
}

/** A failed `anyOf` or name reports its inner errors, and then itself. Inner errors say more, except "must be null". */
const isTelling = ({ keyword, params }: ErrorObject): boolean =>
  keyword !== 'anyOf' && keyword !== 'propertyNames' && !(keyword === 'type' && params.type === 'null')

function toDetail(error: ErrorObject, part: RequestPart, schema: object): ErrorDetail {
  const place =
    part +
    error.instancePath
      .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
      .replaceAll('/', '.')
      .replaceAll('~1', '/')
      .replaceAll('~0', '~')
  if (error.propertyName !== undefined) {
    return {
      path: `${place}.${toShown(error.propertyName)}`,
      message: `is a name that ${wordingOf(error)}`,
    }
  }
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = toShown(String(error.params.additionalProperty))
      return { path: `${place}.${name}`, message: `is not known${suggestion(name, knownNames(schema, error.instancePath))}` }
    }
    case 'required':
      return { path: `${place}.${error.params.missingProperty}`, message: 'is required' }
    case 'pattern':
      return { path: place, message: error.params.pattern === '\\S' ? 'must not be blank' : 'is not of the right form' }
    case 'format':
      return {
        path: place,
        message: error.params.format === 'uuid' ? 'must be a UUID' : 'must be an ISO 8601 time, as 2026-11-20T14:10:00.000Z',
      }
    case 'minLength':
      return { path: place, message: 'must not be empty' }
    case 'enum':
      return { path: place, message: `must be one of ${(error.params.allowedValues as string[]).join(', ')}` }
    default:
      return { path: place, message: wordingOf(error) }
  }
}

const SIZES: Record<string, string> = {
  minItems: 'at least # item',
  maxItems: 'at most # item',
  minProperties: 'at least # field',
  maxProperties: 'at most # field',
  maxLength: 'at most # character',
}

function wordingOf({ keyword, params, message = 'is invalid' }: ErrorObject): string {
  const size = SIZES[keyword]
  if (size === undefined) return message.replace('must NOT', 'must not')
  return `must have ${size.replace('#', String(params.limit))}${params.limit === 1 ? '' : 's'}`
}

function suggestion(name: string, known: string[]): string {
  const near = known.map((k) => ({ k, d: distance(k.toLowerCase(), name.toLowerCase()) })).sort((a, b) => a.d - b.d)[0]
  const close = known.find((k) => k.toLowerCase().endsWith(name.toLowerCase()) && name.length >= MAX_SLIP)
  const best = near !== undefined && near.d <= Math.min(MAX_SLIP, Math.ceil(name.length / 2)) ? near.k : close
  return best === undefined ? '' : `: did you mean ${best}?`
}

/** Returns the fields that the schema knows at a path of the data. */
function knownNames(schema: object, instancePath: string): string[] {
  let at = schema as { properties?: Record<string, object>; items?: object } | undefined
  for (const step of instancePath.split('/').slice(1)) at = (/^\d+$/.test(step) ? at?.items : at?.properties?.[step]) as typeof at
  return Object.keys(at?.properties ?? {})
}
