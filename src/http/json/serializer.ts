import { createRequire } from 'node:module'
import type { Schema } from 'fast-json-stringify'

const require = createRequire(import.meta.url)

/** Writes values of a schema as JSON; nothing that is not in the schema gets out. Loaded and compiled at first use: a start should not wait for answers that nobody asks for. */
export function lazySerializer(schema: object): (value: unknown) => string {
  let stringify: ((value: unknown) => string) | undefined
  return (value) => {
    stringify ??= (require('fast-json-stringify') as typeof import('fast-json-stringify'))(forWriting(schema as Shape) as Schema)
    return stringify(value)
  }
}

interface Shape {
  type?: string
  format?: string
  enum?: unknown[]
  anyOf?: Shape[]
  properties?: Record<string, Shape>
  items?: Shape
  [other: string]: unknown
}

/** Ids, times and names of the contract are made here and hold nothing to escape: a list consists of them for the most part. */
const PLAIN = new Set(['uuid', 'date-time'])
const isPlain = ({ format = '', enum: values }: Shape): boolean =>
  PLAIN.has(format) || values?.every((value) => typeof value === 'string' && /^[\w -]+$/.test(value)) === true

/** The same shape in words that are written fast: what may be null would be validated by each branch before it is written. */
function forWriting(shape: Shape): Shape {
  if (isPlain(shape)) return { type: 'string', format: 'unsafe' }
  const [first, second, ...others] = shape.anyOf ?? []
  if (first?.type !== undefined && second?.type === 'null' && others.length === 0) return { ...forWriting(first), nullable: true }
  const { properties, items } = shape
  return {
    ...shape,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, forWriting(inner)])),
    }),
    ...(items && { items: forWriting(items) }),
  }
}
