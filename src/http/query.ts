import type { TObject } from 'typebox'

const INTEGER = /^(0|-?[1-9]\d{0,14})$/

/** Query parameters are text; where the schema wants an integer, text that is plainly one becomes it. Everything else is left for validation to refuse. */
export function readQuery(schema: TObject): (query: Record<string, unknown>) => Record<string, unknown> {
  const integers = Object.entries(schema.properties)
    .filter(([, property]) => (property as { type?: string }).type === 'integer')
    .map(([name]) => name)
  return (query) => {
    for (const name of integers) {
      const value = query[name]
      if (typeof value === 'string' && INTEGER.test(value)) query[name] = Number(value)
    }
    return query
  }
}
