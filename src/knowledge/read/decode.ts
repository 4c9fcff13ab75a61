import { DocumentError } from '../../core/document-error.ts'
import { own } from '../../core/platform/own.ts'

const CHARSET = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})/i
// Browsers search a declared charset only in these bytes.
const CHARSET_WITHIN_BYTES = 1024

const UTF_16 = /^utf[-_]?16/i

const CHARSET_OF_TYPE = /;\s*charset\s*=\s*"?([\w.:-]{2,40})/i

/** Returns the charset in a media type. */
export const charsetIn = (mediaType: string): string | undefined => CHARSET_OF_TYPE.exec(mediaType)?.[1]

/** Decodes a web page by the charset of its media type, or else by the charset that the page declares. */
export function decodePage({ content, mediaType }: { content: Uint8Array; mediaType: string }): Promise<string> {
  const head = Buffer.from(content.buffer, content.byteOffset, Math.min(content.length, CHARSET_WITHIN_BYTES))
  const declared = CHARSET.exec(head.toString('latin1'))?.[1] ?? ''
  // A declaration that can be read as ASCII cannot be in a UTF-16 page.
  return decodeText(content, charsetIn(mediaType) ?? (UTF_16.test(declared) ? undefined : declared))
}

/**
 * Decodes a file by its byte-order mark, or else the given charset, UTF-8, or the detected charset, in this order. Converts line ends to `\n`.
 * Throws `not_text` for binary data.
 */
export async function decodeText(content: Uint8Array, charset?: string): Promise<string> {
  const text = await decode(content, charset)
  if (text.includes('\0')) throw new DocumentError('not_text', 'The file holds NUL characters: it is a binary file, not text.')
  return text.replace(/\r\n?/g, '\n')
}

async function decode(content: Uint8Array, declared: string | undefined): Promise<string> {
  if (content[0] === 0xff && content[1] === 0xfe) return new TextDecoder('utf-16le').decode(content)
  if (content[0] === 0xfe && content[1] === 0xff) return new TextDecoder('utf-16be').decode(content)
  const isUtf16 = declared !== undefined && UTF_16.test(declared)
  // Without a zero byte, the declaration is wrong, because each line end in UTF-16 has one.
  if (isUtf16 && content.includes(0)) return new TextDecoder(encodingOf(declared)).decode(content)
  const known = declared === undefined || isUtf16 ? undefined : encodingOf(declared)
  // ISO-2022 is also well-formed UTF-8. Only its escape characters show that it is not.
  const isEscaped = known === undefined && content.subarray(0, DETECT_BYTES).includes(ESCAPE)
  const text = isEscaped ? undefined : strictly(known ?? 'utf-8', content)
  return text ?? (await detected(content)) ?? new TextDecoder('windows-1252').decode(content)
}

/** Decodes the content by its detected charset. Resolves to undefined if no known charset is detected. */
async function detected(content: Uint8Array): Promise<string | undefined> {
  const jschardet = await import('jschardet').catch(() => undefined)
  if (jschardet === undefined) return undefined
  const start = content.subarray(0, DETECT_BYTES)
  const { encoding, confidence } = jschardet.default.detect(Buffer.from(start.buffer, start.byteOffset, start.byteLength))
  const label = encoding === null ? undefined : encodingOf(encoding)
  if (label === undefined || confidence < (LATIN.test(label) ? SURE_OF_LATIN : SURE)) return undefined
  return strictly(label, content)
}

function strictly(encoding: string, content: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(content)
  } catch {
    return undefined
  }
}

/** Returns the WHATWG name of a charset, or undefined if the charset is unknown. */
function encodingOf(name: string): string | undefined {
  const label = name.toLowerCase()
  for (const one of [own(ALIASES, label), label, label.replaceAll('_', '-')]) {
    try {
      if (one !== undefined) return new TextDecoder(one).encoding
    } catch {}
  }
  return undefined
}

const ESCAPE = 0x1b
/** Bytes that are enough to detect the charset. */
const DETECT_BYTES = 65_536
// Minimum confidence. Measured on one or two sentences in each of forty charsets: .32 and more for correct results that are not Latin.
// Results for a few accented letters are all low, and the wrong ones are lowest.
const SURE = 0.25
const SURE_OF_LATIN = 0.08
const LATIN = /^(?:windows-125[0247]|iso-8859-(?:[12349]|1\d)|macintosh)$/
const ALIASES: Record<string, string> = {
  cp932: 'shift_jis',
  cp949: 'euc-kr',
  cp874: 'windows-874',
  tis_620: 'windows-874',
  cp936: 'gbk',
  cp950: 'big5',
  cp866: 'ibm866',
  cp1250: 'windows-1250',
  cp1251: 'windows-1251',
  cp1252: 'windows-1252',
  macroman: 'macintosh',
  'utf-16-le': 'utf-16le',
  'utf-16-be': 'utf-16be',
}
