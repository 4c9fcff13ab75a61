import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX = 'rpt_'
const RANDOM_CHARS = 34
const CHECK_CHARS = 6
const SHAPE = /^rpt_[0-9A-Za-z]{40}$/
/** The characters of a key that are shown later. */
const SHOWN_CHARS = 8

/** Returns `rpt_`, 34 random base-62 characters, and their CRC-32 in 6 characters. Typos need no lookup, and scanners find leaked keys easily. */
export function makeKey(): string {
  let random = ''
  for (let i = 0; i < RANDOM_CHARS; i++) random += ALPHABET[randomInt(ALPHABET.length)]
  return PREFIX + random + checksum(random)
}

/** Returns true if the form and checksum are right. Does not check whether the key exists. */
export function isKeyLike(text: string): boolean {
  if (!SHAPE.test(text)) return false
  const random = text.slice(PREFIX.length, -CHECK_CHARS)
  return text.endsWith(checksum(random))
}

/** Returns the SHA-256, hexadecimal. A key is random enough without a slow hash. */
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
