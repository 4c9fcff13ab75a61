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
  /** For whom the answer is read. Undefined if it is for nobody in particular. */
  owner?: CallOwner | undefined
}

/** An answer of more is no reply. A stream spends a few hundred bytes on every token: this is room for a hundred thousand. */
const MAX_BYTES = 33_554_432
/** What is parsed in one go, where it holds no vectors: a JSON answer, one event or one line of a stream. Parsing more would hold up everybody. */
const MAX_PARSED_BYTES = 4_194_304
/** Some 10 ms, where each is another short text. An event or an answer has a few hundred. */
const MOST_VALUES = 10_000
/** An answer has a few dozen. */
const MOST_SHAPES = 2_000
/** Of one event that is longer than this. Each line takes a hundred bytes of memory until the event ends, however short it is. */
const MOST_LINES = 2_000
const LINES_COUNT_FROM_BYTES = 16_384
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
/** Returns where the last piece of an answer begins in a chunk, or somewhat before; -1 if it began in an earlier chunk. */
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
/** What an answer is read as. It is for the reader to say: a provider may name any type. */
export type Pieces = 'events' | 'lines' | 'whole'
const FINDERS: Record<Pieces, FindLastPiece> = {
  events: findLastEvent,
  lines: (chunk) => chunk.lastIndexOf(LINE_FEED),
  whole: () => -1,
}
/** How much is read, and for how long, of what a provider says about its refusal. */
const MAX_WORDS_BYTES = 4_096
const WORDS_WITHIN_MS = 1_000
/** A provider that has said all may hold the line open for so long; then it is closed. */
const LAST_BYTES_WITHIN_MS = 1_000

/** Resolves to the head of an answer that is a success; redirects are none, because they would carry the key elsewhere. Throws `model_failed`. */
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
    // Given as an option, Node would watch over the whole life of the request for it, at twice the cost.
    const stop = () => request.destroy(stopped(signal))
    signal.addEventListener('abort', stop, { once: true })
    request.on('close', () => {
      signal.removeEventListener('abort', stop)
      // Where the answer switches to another protocol (101) there is no error.
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

/** Of an answer: for whom it is read. */
const OWNER = Symbol('owner')
type Owned = IncomingMessage & { [OWNER]?: CallOwner }
const NOBODY: CallOwner = { agentId: '' }
const ownerOf = (response: Owned): CallOwner => response[OWNER] ?? NOBODY

/** Apart from what is kept until the answer ends, so that the prompt is let go once it is sent. */
function begin(url: URL, headers: Record<string, string>, body: string | undefined): ClientRequest {
  const content = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const options = { ...targetOf(url), method: body === undefined ? 'GET' : 'POST', headers: { ...headers, ...content } }
  return (options.protocol === 'https:' ? httpsRequest : httpRequest)(options).end(body)
}

type Target = Pick<RequestOptions, 'protocol' | 'hostname' | 'port' | 'path' | 'auth'>
const targets = new WeakMap<URL, Target>()

/** Returns what Node reads of an address. Given the address, Node would read it at each call. */
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
  /** Of one JSON text. */
  maxParsedBytes?: number
  /** What `take` begins goes on after it returns. */
  takesLater?: boolean
  /** Limit of values in one JSON text, if its parser has no limit of its own. */
  mostValues?: number
  turns?: ReadingTurns
  /** If given, the caller ends it, once the body is parsed. */
  held?: Held
}

/** Of a chunk, at once. */
const SLICE_BYTES = 4_096
/** The same, of a body whose lines are parsed after it was taken: that takes more time by line than by byte. */
const SLICE_LINES = 8

/**
 * Hands the body over in small slices as it comes, and resolves when it is whole, or when `take` returns true, which says that nothing of it is missing. Reads
 * no faster than the answers of providers may be read (`ReadingTurns`). Throws `model_failed`, or what `take` throws; then the connection is closed.
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
    /** A chunk is not taken to its end. */
    let isTaking = false
    let hasEnded = false
    const fail = (error: unknown) => {
      isDone = true
      if (given === undefined) held.end()
      reject(error)
      response.destroy()
    }
    /** Returns true if no slice is to follow. */
    const takeSlice = (slice: Buffer): boolean => {
      try {
        if (!isDone && take(slice) !== true) return false
      } catch (error) {
        fail(error)
      }
      if (isDone) return true
      isDone = true
      // Mostly the end of the body came along, and the connection is free for the next call once it is seen.
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
      // What came during the pause is handed over as one chunk, which takes less time than many.
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
    // It comes with the last chunk, also to a reader that pauses.
    response.on('end', () => {
      hasEnded = true
      if (!isTaking) finish()
    })
    const breakOff = (cause?: Error) => {
      if (!isDone) fail(signal.aborted ? stopped(signal) : cause instanceof ReparteeError ? cause : broken(cause))
    }
    response.on('error', breakOff)
    // Node drops an error that arrives right behind the head, before anybody listens.
    if (response.destroyed) breakOff(response.errored ?? undefined)
    response.on('close', () => {
      if (!response.readableEnded) breakOff()
    })
  })
}

/**
 * Resolves to what `work` returns, such as the parsed end of a body, when it is the turn of the answer. A provider may have thousands of answers end at the same time.
 * What goes on in promises counts, too.
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

/** Returns the end of a slice of few lines: an event takes two or more. */
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

/** Returns what is wrong with a body by the size of its chunks, chunk by chunk. */
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

/** The whole body, as JSON. Throws `model_failed` for more values or bytes. */
export const readJson = (
  response: IncomingMessage,
  signal: AbortSignal,
  { mostValues, maxBytes }: { mostValues?: number; maxBytes?: number } = {},
): Promise<unknown> => readWhole(response, signal, (text) => parseJson(text, mostValues), maxBytes)

/** Resolves to what `take` makes of the whole body, when it is the turn of the answer. Throws `model_failed` for more bytes, and what `take` throws. */
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

/** An address below another, which may end in a slash or have a query. */
export function below(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  return url
}

/** Nobody listens there, the name is unknown, the certificate is not trusted; or it hung up before it answered. */
const unreached = (cause: Error) => failed('its provider could not be reached', { transient: true, cause })
const broken = (cause?: Error) => failed('the connection to the provider broke', { transient: true, cause })

function hangUpUnlessWhole(response: IncomingMessage): void {
  if (response.complete) return
  const timer = setTimeout(() => response.destroy(), LAST_BYTES_WITHIN_MS)
  response.on('close', () => clearTimeout(timer))
}

/** Never rejects: a refusal is one without words, too. */
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
