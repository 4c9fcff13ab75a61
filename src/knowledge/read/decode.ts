import { invalid } from '../../core/errors.ts'

// Files that people send with the wrong name. What they are matters only for saying so.
const MAGIC: [bytes: string, name: string][] = [
  ['25504446', 'a PDF'],
  ['504b0304', 'a ZIP archive or an Office document'],
  ['89504e47', 'a PNG image'],
  ['ffd8ff', 'a JPEG image'],
  ['47494638', 'a GIF image'],
  ['1f8b', 'a gzip archive'],
  ['d0cf11e0', 'an old Office document'],
  ['7f454c46', 'a program'],
]
const CHARSET = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})/i
// Where browsers look for a declared charset.
const CHARSET_WITHIN_BYTES = 1024

/**
 * The text of a file: by byte-order mark, else by the charset that HTML declares, else UTF-8, else Windows-1252. Line ends become `\n`.
 * Throws `invalid_request` for bytes that are no text.
 */
export function decodeText(content: Uint8Array, html: boolean): string {
  const head = Buffer.from(content.buffer, content.byteOffset, Math.min(content.length, CHARSET_WITHIN_BYTES))
  const hex = head.toString('hex', 0, 8)
  const foreign = MAGIC.find(([bytes]) => hex.startsWith(bytes))
  if (foreign !== undefined) throw invalid('content', `is ${foreign[1]}, not text: send the text that is in it`)
  const text = decode(content, html ? CHARSET.exec(head.toString('latin1'))?.[1] : undefined)
  if (text.includes('\0')) throw invalid('content', 'holds NUL characters: it is a binary file, not text')
  return text.replace(/\r\n?/g, '\n')
}

function decode(content: Uint8Array, declared: string | undefined): string {
  if (content[0] === 0xff && content[1] === 0xfe) return new TextDecoder('utf-16le').decode(content)
  if (content[0] === 0xfe && content[1] === 0xff) return new TextDecoder('utf-16be').decode(content)
  try {
    return new TextDecoder(charsetOf(declared), { fatal: true }).decode(content)
  } catch {
    return new TextDecoder('windows-1252').decode(content)
  }
}

/** A declaration that we can read is itself no UTF-16, whatever it says. */
function charsetOf(declared: string | undefined): string {
  if (declared === undefined || /^utf-?16/i.test(declared)) return 'utf-8'
  try {
    return new TextDecoder(declared).encoding
  } catch {
    return 'utf-8'
  }
}
