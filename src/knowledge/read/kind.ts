import { DocumentError } from '../../core/document-error.ts'
import { own } from '../../core/platform/own.ts'

export const kinds = ['text', 'markdown', 'html', 'csv', 'json', 'pdf', 'docx', 'xlsx', 'pptx'] as const
export type Kind = (typeof kinds)[number]

const BY_EXTENSION: Record<string, Kind> = {
  md: 'markdown',
  markdown: 'markdown',
  mdx: 'markdown',
  html: 'html',
  htm: 'html',
  xhtml: 'html',
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  jsonl: 'json',
  ndjson: 'json',
}
const BY_TYPE: Record<string, Kind> = {
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/csv': 'csv',
  'text/tab-separated-values': 'csv',
  'application/json': 'json',
  'application/x-ndjson': 'json',
  'application/jsonl': 'json',
}
/** Types that are only detected from bytes. If a file has the type but other bytes, the error contains this name. */
const BINARY_BY_TYPE: Record<string, string> = {
  'application/pdf': 'a PDF',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'a Word document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'a spreadsheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'a presentation',
}
const BINARY_EXTENSIONS = new Set(['pdf', 'docx', 'xlsx', 'pptx'])
const FOREIGN: [bytes: string, name: string][] = [
  ['89504e47', 'a PNG image'],
  ['ffd8ff', 'a JPEG image'],
  ['47494638', 'a GIF image'],
  ['1f8b', 'a gzip archive'],
  ['377abcaf', 'a 7-Zip archive'],
  ['52617221', 'a RAR archive'],
  ['7f454c46', 'a program'],
  ['4d5a9000', 'a program'],
  ['7b5c727466', 'an RTF document'],
]
const OLE = 'd0cf11e0a1b11ae1'
const ZIP = ['504b0304', '504b0506']
// A PDF may have other bytes before its mark. Readers search this far.
const PDF_WITHIN_BYTES = 1024
const PARTS: [part: string, kind: Kind][] = [
  ['word/', 'docx'],
  ['xl/', 'xlsx'],
  ['ppt/', 'pptx'],
]

/** The media type that callers get for each kind. */
export const mediaTypeOf: Record<Kind, string> = {
  text: 'text/plain',
  markdown: 'text/markdown',
  html: 'text/html',
  csv: 'text/csv',
  json: 'application/json',
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
}

/** Detects the kind of a document from its bytes, or else its name, or else its media type. Throws `DocumentError`. */
export function kindOf(content: Uint8Array, mediaType: string, filename: string | undefined): Kind {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const hex = bytes.toString('hex', 0, 8)
  if (bytes.subarray(0, PDF_WITHIN_BYTES).includes('%PDF-')) return 'pdf'
  if (ZIP.some((mark) => hex.startsWith(mark))) return officeKind(bytes)
  if (hex === OLE)
    throw new DocumentError(
      'encrypted',
      'The file is an old Office document, or one protected by a password: save it without a password in a format of today.',
    )
  const foreign = FOREIGN.find(([mark]) => hex.startsWith(mark))
  if (foreign !== undefined)
    throw new DocumentError('unsupported_type', `The file is ${foreign[1]}, which cannot be read: send the text that is in it.`)
  const type = typeOf(mediaType)
  const claimed = own(BINARY_BY_TYPE, type)
  if (claimed !== undefined) throw new DocumentError('damaged', `The file is not ${claimed}, although its type says so.`)
  const extension = extensionOf(filename)
  const named = extension === undefined ? undefined : own(BY_EXTENSION, extension)
  const kind = named ?? own(BY_TYPE, type)
  if (kind !== undefined) return kind
  if (type === '' || type.startsWith('text/') || type === 'application/octet-stream' || extension === 'txt')
    return looksLikeHtml(bytes) ? 'html' : 'text'
  if (/[/+](?:json|xml|yaml|toml|x-yaml|javascript)$/.test(type)) return type.endsWith('json') ? 'json' : 'text'
  throw new DocumentError(
    'unsupported_type',
    `Documents of type ${type} cannot be read: send text, Markdown, HTML, PDF, CSV, JSON or an Office document.`,
  )
}

/** Returns true if the type or name is that of a PDF or Office document. Only the bytes prove the kind. */
export function isNamedBinary(mediaType: string, filename: string | undefined): boolean {
  return own(BINARY_BY_TYPE, typeOf(mediaType)) !== undefined || BINARY_EXTENSIONS.has(extensionOf(filename) ?? '')
}

const typeOf = (mediaType: string): string => mediaType.split(';')[0]!.trim().toLowerCase()
const extensionOf = (filename = ''): string | undefined => /\.(\w{1,8})$/.exec(filename)?.[1]?.toLowerCase()

const looksLikeHtml = (bytes: Buffer): boolean => /^\s*<(?:!doctype html|html[\s>])/i.test(bytes.toString('utf8', 0, 200))

/** Detects the kind from part names, in the archive's directory at the end of the file and in the first parts. */
function officeKind(bytes: Buffer): Kind {
  const found = PARTS.find(([part]) => bytes.includes(part))
  if (found !== undefined) return found[1]
  throw new DocumentError('unsupported_type', 'The file is a ZIP archive, which cannot be read: send the files that are in it.')
}
