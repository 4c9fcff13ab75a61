import * as crypto from 'node:crypto'

let millisecond = 0
let start = ''

/** Returns a UUID of version 7 (RFC 9562) in lower case: ascending by the millisecond, otherwise random. */
export const newId: () => string = 'randomUUIDv7' in crypto ? () => crypto.randomUUIDv7() : makeId

/** Replaces `newId` in Node before 24.16, which has no built-in function. */
export function makeId(): string {
  const now = Date.now()
  if (now !== millisecond) {
    const time = now.toString(16).padStart(12, '0')
    start = `${time.slice(0, 8)}-${time.slice(8)}-7`
    millisecond = now
  }
  return start + crypto.randomUUID().slice(15)
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isUuid = (text: string): boolean => UUID.test(text)

/** Returns a UUID of version 5 (RFC 9562), always the same for a name in a namespace. The namespace is a UUID. */
export function namedId(namespace: string, name: string): string {
  const hash = crypto
    .createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
  hash[6] = (hash[6]! & 0x0f) | 0x50
  hash[8] = (hash[8]! & 0x3f) | 0x80
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
