import { DocumentError } from '../../core/document-error.ts'
import { own } from '../../core/platform/own.ts'

const CHARSET = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})/i
// Where browsers look for a declared charset.
const CHARSET_WITHIN_BYTES = 1024

const UTF_16 = /^utf[-_]?16/i

const CHARSET_OF_TYPE = /;\s*charset\s*=\s*"?([\w.:-]{2,40})/i

/** The charset that a media type names. */
export const charsetIn = (mediaType: string): string | undefined => CHARSET_OF_TYPE.exec(mediaType)?.[1]

/** The text of a page of the web, by the charset that was sent with it, else by the one that it declares itself. */
export function decodePage({ content, mediaType }: { content: Uint8Array; mediaType: string }): Promise<string> {
  const head = Buffer.from(content.buffer, content.byteOffset, Math.min(content.length, CHARSET_WITHIN_BYTES))
  const declared = CHARSET.exec(head.toString('latin1'))?.[1] ?? ''
  // A declaration that we can read is itself no UTF-16, whatever it says.
  return decodeText(content, charsetIn(mediaType) ?? (UTF_16.test(declared) ? undefined : declared))
}

/**
 * The text of a file: by byte-order mark, else by the charset given, else UTF-8, else by the charset that it looks like. Line ends become
 * `\n`. Throws `not_text` for bytes that are none.
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
  // Without a zero, it is what somebody said of a text in another charset: in UTF-16 each line end has one.
  if (isUtf16 && content.includes(0)) return new TextDecoder(encodingOf(declared)).decode(content)
  const known = declared === undefined || isUtf16 ? undefined : encodingOf(declared)
  // ISO-2022 is well-formed UTF-8, but for its escapes.
  const isEscaped = known === undefined && content.subarray(0, DETECT_BYTES).includes(ESCAPE)
  const text = isEscaped ? undefined : strictly(known ?? 'utf-8', content)
  return text ?? (await detected(content)) ?? new TextDecoder('windows-1252').decode(content)
}

/** As what it looks like; undefined where it looks like nothing that is known. */
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

/** The name that the WHATWG has for a charset which is told by another. */
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
/** Enough to tell. */
const DETECT_BYTES = 65_536
// What the detector reached on a sentence or two in each of forty charsets: .32 and more where it was right about one that is not Latin;
// its guesses about a few letters with accents are all low, the wrong ones lowest.
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
