import type { IncomingHttpHeaders } from 'node:http'
import { createRequire } from 'node:module'
import { MIMEType } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { invalid, ReparteeError } from '../../core/errors.ts'
import { normalize } from '../../text/fold.ts'
import { withoutSmallChunks } from '../server/framing.ts'
import { checkText, JSON_TYPE, toShown } from './body.ts'

export interface Upload {
  /** May begin with folders, as in `guides/start.md`; never absolute. */
  filename: string
  mediaType: string
  content: Buffer
  title: string | undefined
  /** JSON text that is not parsed yet. */
  metadata: string | undefined
}

const require = createRequire(import.meta.url)
const FIELDS = ['title', 'metadata']
const MAX_FIELD_BYTES = 65_536
/** Maximum length of the name of a file, and of each folder in its path. */
const MAX_NAME_CHARS = 255
const MAX_PATH_CHARS = 1_000
/** Enough for the longest file name, percent-encoded. The parser reads each parameter of a part's head letter by letter. */
const MAX_PART_HEAD_BYTES = 8_192
/** Smaller uploads are counted like other bodies. */
export const LARGE_UPLOAD_BYTES = 1_048_576

export const MULTIPART_TYPE = /^multipart\/form-data\s*;/i

export const isUpload = ({ headers }: { headers: IncomingHttpHeaders }): boolean =>
  MULTIPART_TYPE.test(headers['content-type'] ?? '')

/** Returns true also for an upload without a length. */
export const isLarge = ({ headers: { 'content-length': length } }: { headers: IncomingHttpHeaders }): boolean =>
  length === undefined || Number(length) > LARGE_UPLOAD_BYTES

/** Throws `unsupported_media_type`, with all types that the route accepts. */
export function checkMediaType(upload: 'only' | 'also', { headers }: { headers: IncomingHttpHeaders }): void {
  if (isUpload({ headers })) return
  if (upload === 'only')
    throw new ReparteeError('unsupported_media_type', 'The body must be sent with Content-Type: multipart/form-data.')
  const { 'content-type': type, 'content-length': length = '0', 'transfer-encoding': encoding } = headers
  const isEmpty = type === undefined && length === '0' && encoding === undefined
  if (!isEmpty && !JSON_TYPE.test(type ?? ''))
    throw new ReparteeError(
      'unsupported_media_type',
      'The body must be sent with Content-Type: application/json, or multipart/form-data for a file.',
    )
}

/** An upload has three parts, and the parser takes twelve. */
const MOST_DELIMITERS = 50

/** A boundary as clients send it: ASCII without quotes and escapes, which two parsers could read differently. */
const BOUNDARY = /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,70}$/

/** Returns the boundary of a multipart body. Throws `invalid_request`. */
function boundaryOf(contentType: string): string {
  let boundary: string | null = null
  try {
    boundary = new MIMEType(contentType).params.get('boundary')
  } catch {
    // Reported below.
  }
  if (boundary === null || !BOUNDARY.test(boundary))
    throw invalid(
      'body',
      'is not well-formed multipart/form-data: its Content-Type must name a boundary of 1 to 70 ASCII characters',
    )
  return boundary
}

/** Reads a multipart upload: `file`, optionally `title` and `metadata`. Throws `invalid_request` or `payload_too_large`. Loads the parser at first use. */
export function readUpload(request: FastifyRequest, maxBytes: number): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const source = request.raw
    const fields: Record<string, string> = {}
    let file: { filename: string; mediaType: string; content: Gathered } | undefined
    let isOver = false
    const fail = (error: Error) => {
      isOver = true
      source.resume()
      reject(error instanceof ReparteeError ? error : invalid('body', 'is not well-formed multipart/form-data'))
    }
    const { Busboy } = require('@fastify/busboy') as typeof import('@fastify/busboy')
    let parser: InstanceType<typeof Busboy>
    let delimiters: DelimiterCount
    try {
      const boundary = boundaryOf(request.headers['content-type']!)
      delimiters = new DelimiterCount(boundary)
      parser = new Busboy({
        preservePath: true,
        // Not the header as sent: the parser could find a different boundary in it than the one that is counted.
        headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
        limits: {
          fileSize: maxBytes,
          files: 2,
          fields: 10,
          fieldSize: MAX_FIELD_BYTES,
          parts: 12,
          headerSize: MAX_PART_HEAD_BYTES,
          headerPairs: 20,
        },
      })
    } catch (error) {
      fail(error as Error)
      return
    }
    parser.on('file', (name, stream, filename, _encoding, mediaType) => {
      if (name !== 'file') return fail(unknownPart(name, 'the file goes into the part "file"'))
      if (file !== undefined) return fail(invalid('body.file', 'must be given once'))
      const content = new Gathered(Math.min(maxBytes, Number(request.headers['content-length'] ?? maxBytes)))
      file = { filename: filename ?? '', mediaType, content }
      stream.on('data', (chunk: Buffer) => content.add(chunk))
      stream.on('limit', () => fail(new ReparteeError('payload_too_large', 'The file is larger than a document may be.')))
      stream.on('error', fail)
    })
    parser.on('field', (name, value) => {
      if (!FIELDS.includes(name)) return fail(unknownPart(name, 'a multipart upload has file, title and metadata'))
      if (name in fields) return fail(invalid(`body.${name}`, 'must be given once'))
      fields[name] = value
    })
    parser.on('error', (error) => fail(error as Error))
    parser.on('finish', () => {
      if (file === undefined) return fail(invalid('body.file', 'is required'))
      const filename = relativePath(normalize(file.filename))
      try {
        checkText('body.file', filename)
        if (fields.title !== undefined) checkText('body.title', fields.title)
      } catch (error) {
        return fail(error as Error)
      }
      resolve({
        filename,
        mediaType: file.mediaType,
        content: file.content.bytes,
        title: fields.title,
        metadata: fields.metadata,
      })
    })
    const breakOff = () => {
      if (!source.readableEnded) fail(invalid('body', 'broke off'))
    }
    source.on('close', breakOff)
    // A request that was aborted while it waited emits no further event.
    if (source.destroyed) breakOff()
    const body = withoutSmallChunks(source, source)
    parser.on('drain', () => body.resume())
    body
      .on('error', fail)
      .on('data', (chunk: Buffer) => {
        if (isOver) return
        if (delimiters.isTooMany(chunk)) fail(invalid('body', 'has too many parts'))
        else if (!parser.write(chunk)) body.pause()
      })
      .on('end', () => {
        if (!isOver) parser.end()
      })
  })
}

/** Returns the path of a file in its folder. If the path is absolute, only the file name remains, because the rest describes the client's machine. */
function relativePath(given: string): string {
  const isAbsolute = /^(?:[\\/]|[a-z]:)/i.test(given)
  const names = given.split(/[\\/]/).filter((name) => name !== '' && name !== '.' && name !== '..')
  const short = names.map((name) => [...name].slice(0, MAX_NAME_CHARS).join(''))
  const path = short.join('/')
  return isAbsolute || path.length > MAX_PATH_CHARS ? (short.at(-1) ?? '') : path
}

/** Counts the delimiters of a multipart body. The parser needs 25 µs for each, and 1 MB has room for 200,000. */
class DelimiterCount {
  readonly #delimiter: Buffer
  /** The end of the previous chunk, in which a delimiter can begin. */
  #rest = Buffer.alloc(0)
  #count = 0

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  }

  isTooMany(chunk: Buffer): boolean {
    const before = this.#delimiter.length - 1
    this.#countIn(Buffer.concat([this.#rest, chunk.subarray(0, before)]))
    this.#countIn(chunk)
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(-before)]).subarray(-before)
    return this.#count > MOST_DELIMITERS
  }

  #countIn(bytes: Buffer): void {
    const { length } = this.#delimiter
    for (let at = bytes.indexOf(this.#delimiter); at >= 0; at = bytes.indexOf(this.#delimiter, at + length)) {
      if (++this.#count > MOST_DELIMITERS) return
    }
  }
}

/** The bytes of a file, copied as they arrive: concatenating 50 MB at the end blocks the event loop for 0.2 s. */
class Gathered {
  // Bytes that are never written take no memory.
  readonly #buffer: Buffer
  #length = 0

  constructor(mostBytes: number) {
    this.#buffer = Buffer.allocUnsafeSlow(mostBytes)
  }

  add(chunk: Buffer): void {
    this.#length += chunk.copy(this.#buffer, this.#length)
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }
}

/** A part may have no name, although the parser's types say otherwise. */
function unknownPart(name: string | undefined, why: string): ReparteeError {
  if (name === undefined) return invalid('body', `holds a part without a name: ${why}`)
  return invalid(`body.${toShown(name)}`, `is not known: ${why}`)
}
