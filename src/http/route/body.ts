import type { IncomingHttpHeaders } from 'node:http'
import { invalid, ReparteeError } from '../../core/errors.ts'
import { hasMoreShapes, hasMoreValues } from '../../core/platform/json-values.ts'

export const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i
/** Maximum number of values, including lists and objects. More would take too much time and memory. */
const MAX_VALUES = 50_000
/** Maximum number of object shapes (sequences of field names). Names take longer to parse than values, and more shapes take even longer. */
const MAX_SHAPES = 1_000
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Only an escape can produce these: raw U+0000 is not valid JSON, and a lone surrogate is not valid UTF-8. */
const SUSPECT = /\\u(0000|d[89a-f][0-9a-f]{2})/i

/** Throws `unsupported_media_type` if the body is encoded. */
export function refuseEncoded({ headers }: { headers: IncomingHttpHeaders }): void {
  if (headers['content-encoding'] !== undefined)
    throw new ReparteeError('unsupported_media_type', 'A body must not be encoded: leave Content-Encoding out.')
}

/** Parses a JSON body. An empty body counts as `{}`. Throws `invalid_request` if it is not UTF-8, not JSON, or contains text that cannot be stored. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return {}
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw invalid('body', 'is not valid UTF-8')
  }
  if (hasMoreValues(text, MAX_VALUES)) throw invalid('body', `must have at most ${MAX_VALUES.toLocaleString('en')} values`)
  if (hasMoreShapes(text, MAX_SHAPES))
    throw invalid(
      'body',
      `must have at most ${MAX_SHAPES.toLocaleString('en')} different fields; a field in another place of its object is different`,
    )
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ReparteeError('invalid_request', 'body is not valid JSON', {
      details: [{ path: 'body', message: 'is not valid JSON' }],
      cause,
    })
  }
  // Fastify uses null for a missing body, which differs from a body of `null`.
  if (value === null) throw invalid('body', 'must be an object')
  if (SUSPECT.test(text)) refuseUnkeepable('body', value)
  return value
}

/** The path of an invalid text is cut off after this length. */
const MAX_PATH_CHARS = 500

/** A list or an object, and its path. */
interface Place {
  value: object
  /** Undefined for the root. */
  within?: { place: Place; name: string | number }
}

/** Throws unless all texts and field names are well-formed Unicode without U+0000. A loop, not a recursion: bodies may be nested to any depth. */
export function refuseUnkeepable(about: string, json: unknown): void {
  if (typeof json === 'string') checkText(about, json)
  if (typeof json !== 'object' || json === null) return
  const open: Place[] = [{ value: json }]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value } = place
    const isList = Array.isArray(value)
    for (const name of isList ? value.keys() : Object.keys(value)) {
      const inner = (value as Record<string | number, unknown>)[name]
      if (typeof name === 'string' && !isKeepable(name)) checkText(toPath(about, place), name)
      if (typeof inner === 'string' && !isKeepable(inner)) checkText(toPath(about, { value, within: { place, name } }), inner)
      if (typeof inner === 'object' && inner !== null) open.push({ value: inner, within: { place, name } })
    }
  }
}

function toPath(about: string, { within }: Place): string {
  const steps: string[] = []
  for (let at = within; at !== undefined; at = at.place.within)
    steps.push(typeof at.name === 'number' ? `[${at.name}]` : `.${toShown(at.name)}`)
  let path = about
  for (const step of steps.reverse()) {
    if (path.length > MAX_PATH_CHARS) break
    path += step
  }
  return path
}

const isKeepable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Shortens a name that a caller sent, for a response: it may be as long as its request. */
export const toShown = (name: string): string => name.slice(0, 100).toWellFormed()

export function checkText(path: string, text: string): void {
  if (text.includes('\0')) throw invalid(path, 'must not hold U+0000')
  if (!text.isWellFormed()) throw invalid(path, 'must be well-formed Unicode: it holds half of a surrogate pair')
}
