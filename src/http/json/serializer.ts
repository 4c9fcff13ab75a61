import { createRequire } from 'node:module'
import type { Schema } from 'fast-json-stringify'

const require = createRequire(import.meta.url)

/** Returns a function that writes the fields of a schema as JSON and omits others. Compiled at first use, so that startup does not wait for it. */
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

/** Ids, times and names of the contract are made here and need no escaping. Lists consist mostly of them. */
const PLAIN = new Set(['uuid', 'date-time'])
const isPlain = ({ format = '', enum: values }: Shape): boolean =>
  PLAIN.has(format) || values?.every((value) => typeof value === 'string' && /^[\w -]+$/.test(value)) === true

/** Returns an equivalent schema that is written faster: a nullable value would be validated by each branch before it is written. */
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
