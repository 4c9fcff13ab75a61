import fc from 'fast-check'
import { character, text } from './fuzz.ts'

/** The part of JSON Schema that the service's own document uses. */
export interface Schema {
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  items?: Schema
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  properties?: Record<string, Schema>
  required?: string[]
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean
}

/** A placeholder for the id of a resource. It is filled in when the request is sent, so that one seed always makes the same requests. */
export class Ref {
  readonly of: string
  constructor(of: string) {
    this.of = of
  }
}

export const toJson = (value: unknown, ids: Record<string, string>): string =>
  JSON.stringify(value, (_name, inner) => (inner instanceof Ref ? ids[inner.of] : inner))

/** Generators by field name, for fields whose schema is less strict than the service. */
export type Hints = Record<string, fc.Arbitrary<unknown>>

/** Generates valid values of a schema. */
export function valid(schema: Schema, hints: Hints, name = ''): fc.Arbitrary<unknown> {
  const hint = hints[name]
  if (hint !== undefined) return hint
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => valid(one, hints)))
  switch (schema.type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
    case 'number':
      return validNumber(schema)
    case 'array':
      return validArray(schema, hints)
    case 'object':
      return validObject(schema, hints)
    default:
      return validText(schema)
  }
}

function validNumber({ type, minimum, exclusiveMinimum, maximum }: Schema): fc.Arbitrary<number> {
  const min = minimum ?? exclusiveMinimum ?? -1e15
  const max = maximum ?? 1e15
  if (type === 'integer') return fc.oneof(fc.integer({ min, max: Math.min(max, min + 20) }), fc.constantFrom(min, max))
  return fc.double({ min, minExcluded: exclusiveMinimum !== undefined, max, noNaN: true })
}

function validArray(
  { items = {}, minItems = 0, maxItems = 100, uniqueItems = false }: Schema,
  hints: Hints,
): fc.Arbitrary<unknown> {
  const length = { minLength: minItems, maxLength: Math.min(maxItems, minItems + 3) }
  const item = valid(items, hints)
  return uniqueItems ? fc.uniqueArray(item, length) : fc.array(item, length)
}

function validObject({ properties, patternProperties, required = [] }: Schema, hints: Hints): fc.Arbitrary<unknown> {
  if (properties === undefined) {
    const [value = {}] = Object.values(patternProperties ?? {})
    const key = fc.oneof(fc.constantFrom('lang', 'page', 'constructor', 'toString', 'a.b', '$a', '😀'), text(10).filter(isKey))
    return fc.dictionary(key, valid(value, hints), { maxKeys: 4, noNullPrototype: true })
  }
  const fields = Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, valid(inner, hints, name)]))
  return fc.record(fields, { requiredKeys: required, noNullPrototype: true })
}

/** Returns whether the pattern of such records accepts a key. */
export const isKey = (key: string) => key !== '__proto__' && !/[\n\r\u2028\u2029]/.test(key)

function validText({ format, pattern, minLength = 0, maxLength = 200 }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid')
    return fc.oneof(
      fc.uuid(),
      fc.uuid().map((id) => id.toUpperCase()),
    )
  if (format === 'date-time') return time
  if (pattern !== undefined && pattern !== '\\S') return fc.stringMatching(new RegExp(pattern, 'u'), { maxLength: 30 })
  const filled = (t: string) => pattern === undefined || /\S/.test(t)
  const most = Math.min(maxLength, 40)
  const short = fc.string({ unit: character, minLength, maxLength: most }).filter(filled)
  const whole = character.filter(filled).map((c) => c.repeat(maxLength))
  return fc.oneof({ arbitrary: short, weight: 12 }, whole)
}

/** ISO 8601 with a time zone, for every year that the format supports. */
export const time: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      fc.date({ min: new Date('2020-01-01T00:00:00Z'), max: new Date('2030-01-01T00:00:00Z'), noInvalidDate: true }),
      fc.date({ min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
      fc.constantFrom(new Date('0000-01-01T00:00:00Z'), new Date('9999-12-31T23:59:59Z'), new Date(0)),
    ),
    fc.constantFrom('Z', '+00:00', '-00:00', '+14:00', '-12:00', '+05:45'),
    fc.constantFrom(16, 19, 21, 23),
  )
  .map(([date, zone, digits]) => date.toISOString().slice(0, digits) + zone)

const raw = (json: string) => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(json)
const named = (name: string) => JSON.parse(`{${JSON.stringify(name)}:{"name":"x"}}`) as object
const nest = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown

/** Values that hardly any field accepts. */
export const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, true, false, 0, 1, -1, 1.5, 1e308, 5e-324, 2 ** 53, '', ' ', '\t\n', '\u3000', '\ufeff', '\0', 'a\0b'],
    ...['\ud800', 'x\udfff', '\udc00\ud800', 'NaN', '-Infinity', '1e1', '0x10', 'null', 'true', 'undefined', '[object Object]'],
    ...['__proto__', 'constructor', "' OR 1=1 --", '%00', '../../etc/passwd', '{{x}}', '$1', [], {}, [[]], [null], ['', 0], [{}]],
    ...[named('__proto__'), named('constructor'), named('toString'), named(''), named('\0'), named('\ud800'), nest(200)],
    ...['-0', '1e400', '-1e400', '1e-400', '9007199254740993', '123456789012345678901234567890', '0.1e1'].map(raw),
    ...['not-a-time', '2026-02-30T00:00:00Z', '2026-11-20', '2026-11-20T24:00:00Z', '0000-01-01T00:00:00+14:00'],
    ...['9999-12-31T23:59:59-12:00', '+010000-01-01T00:00:00Z', '00000000-0000-0000-0000-000000000000', 'x'.repeat(70_000)],
  ),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
)

/** Returns values at the limits of a schema, and just beyond them. */
function edges(schema: Schema): unknown[] {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, items, patternProperties, anyOf } = schema
  const step = schema.type === 'integer' ? 1 : 1e-9
  const texts = [
    minLength === undefined ? [] : [minLength, minLength - 1],
    maxLength === undefined ? [] : [maxLength, maxLength + 1],
  ]
  const lists = [minItems === undefined ? [] : [minItems, minItems - 1], maxItems === undefined ? [] : [maxItems, maxItems + 1]]
  const [item] = items === undefined ? [] : fc.sample(valid(items, {}), { numRuns: 1, seed: 1 })
  return [
    ...texts.flat().flatMap((n) => (n < 0 ? [] : ['x'.repeat(n), '😀'.repeat(n), ' '.repeat(n)])),
    ...lists.flat().flatMap((n) => (n < 0 || n > 2_000 ? [] : [Array(n).fill(item)])),
    ...(items === undefined ? [] : [Array(60_000).fill(1), Array(60_000).fill({}), Array(60_000).fill(null)]),
    ...(minimum === undefined ? [] : [minimum, minimum - step]),
    ...(maximum === undefined ? [] : [maximum, maximum + step]),
    ...(patternProperties === undefined
      ? []
      : [many(50), many(51), named('x'.repeat(101)), named('a\nb'), { '\n': [[]] }, { '': {} }]),
    ...(anyOf ?? []).flatMap(edges),
  ]
}

const many = (keys: number) => Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, i]))

/** Returns every position of a value that a schema describes. */
function placesOf(schema: Schema, path: (string | number)[] = []): { path: (string | number)[]; schema: Schema }[] {
  const { properties = {}, items } = schema
  const below = [
    ...Object.entries(properties).flatMap(([name, inner]) => placesOf(inner, [...path, name])),
    ...(items === undefined ? [] : placesOf(items, [...path, 0])),
  ]
  return path.length === 0 ? below : [{ path, schema }, ...below]
}

const UNKNOWN = [
  'nope',
  'Name',
  'names',
  '__proto__',
  'constructor',
  'toString',
  'prototype',
  '',
  ' ',
  '\0',
  '\ud800',
  '0',
  'a/b~c.d',
  'x'.repeat(300),
]

/** Generates values that are valid except for one thing. */
export function nearlyValid(schema: Schema, hints: Hints): fc.Arbitrary<unknown> {
  const places = placesOf(schema)
  const whole = valid(schema, hints)
  const unknown = fc.tuple(whole, fc.constantFrom(...UNKNOWN), odd).map(([value, name, extra]) => put(value, [name], extra))
  if (places.length === 0) return unknown
  const replaced = fc.constantFrom(...places).chain(({ path, schema: at }) => {
    const atEdge = edges(at)
    const instead = atEdge.length === 0 ? odd : fc.oneof(odd, fc.constantFrom(...atEdge))
    return fc.tuple(whole, instead).map(([value, other]) => put(value, path, other))
  })
  const missing = fc.tuple(whole, fc.constantFrom(...places)).map(([value, { path }]) => put(value, path, undefined))
  return fc.oneof({ arbitrary: replaced, weight: 6 }, unknown, missing)
}

/** Returns a copy of a value with one position replaced. `undefined` removes it. */
export function put(value: unknown, [name, ...rest]: (string | number)[], inner: unknown): unknown {
  if (name === undefined) return inner
  if (typeof name === 'number') {
    const list = Array.isArray(value) ? [...value] : []
    list[name] = put(list[name], rest, inner)
    return list
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Ref)
  const fields = isObject ? (value as Record<string, unknown>) : {}
  // An assignment would lose `__proto__`.
  return Object.fromEntries([...Object.entries(fields).filter(([key]) => key !== name), [name, put(fields[name], rest, inner)]])
}
