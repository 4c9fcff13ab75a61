import { parse } from 'fast-querystring'
import type { TObject } from '../../api/schema.ts'
import { invalid } from '../../core/errors.ts'

const INTEGER = /^(0|-?[1-9]\d{0,14})$/

/** Throws `invalid_request` if percent signs do not encode UTF-8: they would otherwise be used literally. */
export function checkEncoding(url: string): void {
  const at = url.indexOf('?')
  if (at === -1 || !url.includes('%', at)) return
  for (const pair of url.slice(at + 1).split('&')) {
    try {
      decodeURIComponent(pair)
    } catch {
      throw invalid(`query.${pair.split('=', 1)[0]}`, 'is not percent-encoded UTF-8')
    }
  }
}

/** More than any operation has. A URL has room for thousands. */
const MAX_PARAMETERS = 50

/**
 * Reads the query of a URL, after the caller is admitted. Parameters are text; a valid integer becomes a number if the schema wants one. Validation refuses the
 * rest. Throws `invalid_request` for too many parameters.
 */
export function readQuery(schema: TObject): (url: string) => Record<string, unknown> {
  const integers = Object.entries(schema.properties)
    .filter(([, property]) => (property as { type?: string }).type === 'integer')
    .map(([name]) => name)
  return (url) => {
    const at = url.search(/[?#]/)
    if (at === -1) return {}
    const text = url.slice(at + 1)
    if (text.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS)
      throw invalid('query', `must have at most ${MAX_PARAMETERS} parameters`)
    const query: Record<string, unknown> = parse(text)
    for (const name of integers) {
      const value = query[name]
      if (typeof value === 'string' && INTEGER.test(value)) query[name] = Number(value)
    }
    return query
  }
}
