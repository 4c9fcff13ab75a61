import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX = 'rpt_'
const RANDOM_CHARS = 34
const CHECK_CHARS = 6
const SHAPE = /^rpt_[0-9A-Za-z]{40}$/
/** Characters that are shown of a key afterwards. */
const SHOWN_CHARS = 8

/** `rpt_`, 34 random base-62 characters, and their CRC-32 as a base-62 number of 6: a mistyped key needs no look-up, a leaked one is easy to scan for. */
export function makeKey(): string {
  let random = ''
  for (let i = 0; i < RANDOM_CHARS; i++) random += ALPHABET[randomInt(ALPHABET.length)]
  return PREFIX + random + checksum(random)
}

/** True where the form and the checksum are right: it may be a key, or was one. */
export function isKeyLike(text: string): boolean {
  if (!SHAPE.test(text)) return false
  const random = text.slice(PREFIX.length, -CHECK_CHARS)
  return text.endsWith(checksum(random))
}

/** SHA-256, hexadecimal: a key is random enough to need no slow hash. */
export const hashKey = (key: string): string => hash('sha256', key, 'hex')

export const shownPrefix = (key: string): string => key.slice(0, SHOWN_CHARS)

function checksum(text: string): string {
  let n = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECK_CHARS; i++) {
    digits = ALPHABET[n % ALPHABET.length] + digits
    n = Math.floor(n / ALPHABET.length)
  }
  return digits
}
