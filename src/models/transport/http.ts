import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { urlToHttpOptions } from 'node:url'
import { ReparteeError } from '../../core/errors.ts'
import { hasMoreShapes, hasMoreValues, ValueCount } from '../../core/platform/json-values.ts'
import { type Excess, httpRequest, httpsRequest, limitResponse } from '../../core/platform/node-http.ts'
import { type CallOwner, toLine } from '../call-slots.ts'
import { aWebPage, failed, notUnderstood, refused, sendsTooMuch, stopped } from './failure.ts'
import { type Held, heldBytes } from './held-bytes.ts'
import { type ReadingTurns, readingTurns } from './reading-turns.ts'

export interface HttpCall {
  headers: Record<string, string>
  /** JSON, sent by POST. Without it the call is a GET. */
  body?: string
  signal: AbortSignal
  /** For whom the answer is read. Undefined if it has no owner. */
  owner?: CallOwner | undefined
}

/** A longer answer is not a reply. A stream takes a few hundred bytes per token, so this has room for a hundred thousand tokens. */
const MAX_BYTES = 33_554_432
/** Limit of what is parsed at once, without vectors: a JSON answer, an event or a line of a stream. Parsing more would block other requests. */
const MAX_PARSED_BYTES = 4_194_304
/** Takes some 10 ms if each value is another short text. An event or an answer has a few hundred. */
const MOST_VALUES = 10_000
/** Maximum object shapes. An answer has a few dozen. */
const MOST_SHAPES = 2_000
/** Limit of lines in an event above this size. Each line takes a hundred bytes of memory until the event ends, even if it is short. */
const MOST_LINES = 2_000
const LINES_COUNT_FROM_BYTES = 16_384
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
/** Returns the start of the last piece of an answer in a chunk, or somewhat earlier; -1 if it began in an earlier chunk. */
type FindLastPiece = (chunk: Buffer) => number
/** For a stream of events. */
const findLastEvent: FindLastPiece = (chunk) => {
  for (let at = chunk.length - 1; at > 0; at--) {
    if (chunk[at] !== LINE_FEED) continue
    if (chunk[at - 1] === LINE_FEED) return at - 1
    if (chunk[at - 1] === CARRIAGE_RETURN && chunk[at - 2] === LINE_FEED) return at - 2
  }
  return -1
}
/** The format of an answer. The reader decides, because a provider may send any content type. */
export type Pieces = 'events' | 'lines' | 'whole'
const FINDERS: Record<Pieces, FindLastPiece> = {
  events: findLastEvent,
  lines: (chunk) => chunk.lastIndexOf(LINE_FEED),
  whole: () => -1,
}
/** Limits for the error body of a refusal, in bytes and milliseconds. */
const MAX_WORDS_BYTES = 4_096
const WORDS_WITHIN_MS = 1_000
/** A provider that sent everything may leave the connection open for this long; then it is closed. */
const LAST_BYTES_WITHIN_MS = 1_000

/** Resolves to the head of a successful answer. A redirect fails, because it would send the key elsewhere. Throws `model_failed`. */
export async function send(url: URL, { headers, body, signal, owner }: HttpCall): Promise<IncomingMessage> {
  if (signal.aborted) throw stopped(signal)
  const request = begin(url, headers, body)
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    let answer: IncomingMessage | undefined
    request.on('response', (response) => {
      answer = response
      resolve(response)
    })
    limitResponse(request, (of) => {
      reject(EXCESSES[of]())
      answer?.destroy(EXCESSES[of]())
    })
    // As an option of the request, Node would watch the signal for the whole life of the request, at twice the cost.
    const stop = () => request.destroy(stopped(signal))
    signal.addEventListener('abort', stop, { once: true })
    request.on('close', () => {
      signal.removeEventListener('abort', stop)
      // An answer that switches protocols (101) causes no error.
      if (answer === undefined)
        reject(signal.aborted ? stopped(signal) : failed('the provider hung up without an answer', { transient: true }))
    })
    request.on('error', (cause) =>
      reject(signal.aborted ? stopped(signal) : request.reusedSocket ? broken(cause) : unreached(cause)),
    )
  })
  const { statusCode = 0 } = response
  if (statusCode >= 200 && statusCode < 300) {
    if (owner !== undefined) (response as Owned)[OWNER] = owner
    if (!response.headers['content-type']?.startsWith('text/html')) return response
    response.destroy()
    throw aWebPage()
  }
  throw refused(statusCode, response.headers, await wordsOf(response))
}

const EXCESSES: Record<Excess, () => ReparteeError> = {
  'informational responses': () => failed('the provider sent too many informational responses'),
  'header fields': () => failed('the provider sent too many header fields'),
  'small chunks': () => failed('the provider sent its answer in pieces that are too small'),
}

/** The owner of an answer. */
const OWNER = Symbol('owner')
type Owned = IncomingMessage & { [OWNER]?: CallOwner }
const NOBODY: CallOwner = { agentId: '' }
const ownerOf = (response: Owned): CallOwner => response[OWNER] ?? NOBODY

/** A separate function, so that its caller does not retain the prompt until the answer ends. */
function begin(url: URL, headers: Record<string, string>, body: string | undefined): ClientRequest {
  const content = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const options = { ...targetOf(url), method: body === undefined ? 'GET' : 'POST', headers: { ...headers, ...content } }
  return (options.protocol === 'https:' ? httpsRequest : httpRequest)(options).end(body)
}

type Target = Pick<RequestOptions, 'protocol' | 'hostname' | 'port' | 'path' | 'auth'>
const targets = new WeakMap<URL, Target>()

/** Returns the request options of a URL. Node would parse the URL at each call. */
function targetOf(url: URL): Target {
  const known = targets.get(url)
  if (known !== undefined) return known
  const { protocol, hostname, port, path, auth } = urlToHttpOptions(url)
  const target = { protocol, hostname, port, path, ...(auth ? { auth } : {}) }
  targets.set(url, target)
  return target
}

interface Reading {
  pieces: Pieces
  /** Limit of one JSON text. */
  maxParsedBytes?: number
  /** The work of `take` continues after it returns. */
  takesLater?: boolean
  /** Limit of values in one JSON text, if its parser has no limit of its own. */
  mostValues?: number
  turns?: ReadingTurns
  /** If given, the caller ends it after the body is parsed. */
  held?: Held
}

/** Bytes of a chunk that are taken at once. */
const SLICE_BYTES = 4_096
/** Lines that are taken at once if they are parsed later: that takes more time per line than per byte. */
const SLICE_LINES = 8

/**
 * Passes the body in small slices as it arrives. Resolves at its end, or when `take` returns true because it needs no more.
 * Throttled by `ReadingTurns`. Throws `model_failed`, or what `take` throws, and then closes the connection.
 */
export function readBody(
  response: IncomingMessage,
  signal: AbortSignal,
  take: (slice: Buffer) => unknown,
  { pieces, maxParsedBytes = MAX_PARSED_BYTES, takesLater = false, mostValues, turns = readingTurns, held: given }: Reading,
): Promise<void> {
  const owner = ownerOf(response)
  const line = toLine(owner)
  const held = given ?? heldBytes.open(owner)
  const check = bodyCheck(FINDERS[pieces], maxParsedBytes, mostValues, held)
  return new Promise<void>((resolve, reject) => {
    const finish = () => {
      if (given === undefined) held.end()
      resolve()
    }
    let isDone = false
    /** True while a part of a chunk is left. */
    let isTaking = false
    let hasEnded = false
    const fail = (error: unknown) => {
      isDone = true
      if (given === undefined) held.end()
      reject(error)
      response.destroy()
    }
    /** Returns true if no slice follows. */
    const takeSlice = (slice: Buffer): boolean => {
      try {
        if (!isDone && take(slice) !== true) return false
      } catch (error) {
        fail(error)
      }
      if (isDone) return true
      isDone = true
      // The end of the body has usually arrived as well, and frees the connection for the next call once it is read.
      setImmediate(() => {
        finish()
        hangUpUnlessWhole(response)
      })
      return true
    }
    const takeFrom = (chunk: Buffer, start: number) => {
      for (let at = start; ; ) {
        const end = takesLater ? endOfLines(chunk, at) : at + SLICE_BYTES
        const slice = at === 0 && end >= chunk.length ? chunk : chunk.subarray(at, end)
        if (takeSlice(slice) || end >= chunk.length) break
        if (takesLater || !turns.hasTime) return turns.later(line, () => takeFrom(chunk, end), takesLater)
        at = end
      }
      isTaking = false
      if (hasEnded) finish()
      // Data that arrived during the pause is passed as one chunk, which takes less time than many.
      else if (response.isPaused() && response.read() === null) response.resume()
    }
    response.on('data', (chunk: Buffer) => {
      if (isDone) return
      isTaking = true
      const takeChunk = () => {
        if (isDone) return
        const wrong = check(chunk)
        if (wrong !== undefined) fail(wrong)
        else takeFrom(chunk, 0)
      }
      if (takesLater) turns.later(line, takeChunk, true)
      else turns.run(line, takeChunk)
      if (isTaking && !isDone) response.pause()
    })
    // It comes with the last chunk, even if the reader has paused.
    response.on('end', () => {
      hasEnded = true
      if (!isTaking) finish()
    })
    const breakOff = (cause?: Error) => {
      if (!isDone) fail(signal.aborted ? stopped(signal) : cause instanceof ReparteeError ? cause : broken(cause))
    }
    response.on('error', breakOff)
    // Node drops an error that arrives immediately after the head, before a listener exists.
    if (response.destroyed) breakOff(response.errored ?? undefined)
    response.on('close', () => {
      if (!response.readableEnded) breakOff()
    })
  })
}

/**
 * Resolves to the result of `work`, such as the parsed end of a body, when it is the turn of the answer.
 * Thousands of answers may end at the same time. Work that continues in promises counts, too.
 */
export function inTurn<T>(response: IncomingMessage, work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const attempt = () => {
      try {
        resolve(work())
      } catch (error) {
        reject(error)
      }
    }
    readingTurns.later(toLine(ownerOf(response)), attempt, true)
  })
}

/** Returns the end of a slice with few lines: an event takes two or more. */
function endOfLines(chunk: Buffer, start: number): number {
  const most = start + SLICE_BYTES
  let end = start
  for (let lines = 0; lines < SLICE_LINES; lines++) {
    const feed = chunk.indexOf(LINE_FEED, end)
    if (feed < 0 || feed >= most) return most
    end = feed + 1
  }
  return end
}

/** Returns a function that checks the size of a body chunk by chunk, and returns the error if it is too large. */
function bodyCheck(
  findLastPiece: FindLastPiece,
  maxParsedBytes: number,
  mostValues: number | undefined,
  held: Held,
): (chunk: Buffer) => ReparteeError | undefined {
  let bytes = 0
  let parsedBytes = 0
  let lines = 0
  const values = mostValues === undefined ? undefined : new ValueCount()
  const hasTooManyValues = (chunk: Buffer, begun: number) => {
    if (values === undefined || mostValues === undefined) return false
    const isTooMany = values.add(chunk) > mostValues
    if (begun < 0) return isTooMany
    values.begin()
    values.add(chunk, begun)
    return isTooMany
  }
  return (chunk) => {
    bytes += chunk.length
    const begun = findLastPiece(chunk)
    parsedBytes = begun < 0 ? parsedBytes + chunk.length : chunk.length - begun
    if (begun >= 0) lines = 0
    if (findLastPiece === findLastEvent && parsedBytes > LINES_COUNT_FROM_BYTES) {
      lines += countLineEnds(chunk, begun + 1)
      if (lines > MOST_LINES) return tooMuch()
    }
    if (bytes > MAX_BYTES || parsedBytes > maxParsedBytes || hasTooManyValues(chunk, begun)) return tooMuch()
    return held.set(parsedBytes) ? undefined : sendsTooMuch()
  }
}

function countLineEnds(chunk: Buffer, start: number): number {
  let count = 0
  for (let at = start; at < chunk.length; at++) if (chunk[at] === LINE_FEED || chunk[at] === CARRIAGE_RETURN) count++
  return count
}

export const tooMuch = () => failed('the provider sent more than a reply can hold')

/** Resolves to the whole body as JSON. Throws `model_failed` for more values or bytes. */
export const readJson = (
  response: IncomingMessage,
  signal: AbortSignal,
  { mostValues, maxBytes }: { mostValues?: number; maxBytes?: number } = {},
): Promise<unknown> => readWhole(response, signal, (text) => parseJson(text, mostValues), maxBytes)

/** Resolves to the result of `take` on the whole body, when it is the turn of the answer. Throws `model_failed` for more bytes, and what `take` throws. */
export async function readWhole<T>(
  response: IncomingMessage,
  signal: AbortSignal,
  take: (text: string) => T,
  maxBytes = MAX_PARSED_BYTES,
): Promise<T> {
  const chunks: Buffer[] = []
  const held = heldBytes.open(ownerOf(response))
  try {
    await readBody(response, signal, (slice) => void chunks.push(slice), { pieces: 'whole', maxParsedBytes: maxBytes, held })
    return await inTurn(response, () => take(Buffer.concat(chunks).toString('utf8')))
  } finally {
    held.end()
  }
}

export function parseJson(text: string, mostValues = MOST_VALUES): unknown {
  if (hasMoreValues(text, mostValues) || hasMoreShapes(text, MOST_SHAPES)) throw tooMuch()
  try {
    return JSON.parse(text)
  } catch (error) {
    throw notUnderstood(error)
  }
}

export const isListOfObjects = (json: unknown): boolean =>
  Array.isArray(json) && json.every((entry) => typeof entry === 'object' && entry !== null)

export const isJson = ({ headers }: IncomingMessage): boolean => headers['content-type']?.startsWith('application/json') === true

/** Returns the URL of a path below another URL, which may end in a slash or have a query. */
export function below(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  return url
}

/** Nothing listens there, the name is unknown, the certificate is not trusted, or the connection closed before the answer. */
const unreached = (cause: Error) => failed('its provider could not be reached', { transient: true, cause })
const broken = (cause?: Error) => failed('the connection to the provider broke', { transient: true, cause })

function hangUpUnlessWhole(response: IncomingMessage): void {
  if (response.complete) return
  const timer = setTimeout(() => response.destroy(), LAST_BYTES_WITHIN_MS)
  response.on('close', () => clearTimeout(timer))
}

/** Never rejects: a refusal without a body is a refusal, too. */
function wordsOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const end = () => {
      clearTimeout(timer)
      resolve(Buffer.concat(chunks).toString('utf8', 0, MAX_WORDS_BYTES))
      if (!response.complete) response.destroy()
    }
    const timer = setTimeout(end, WORDS_WITHIN_MS)
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > MAX_WORDS_BYTES) end()
    })
    response.on('end', end)
    response.on('error', end)
  })
}
