import type { FastifyReply, FastifyRequest } from 'fastify'
import { TenantShares } from '../../core/fairness/shares.ts'
import { overloaded } from '../route/errors.ts'
import { isUpload, LARGE_UPLOAD_BYTES } from '../route/upload.ts'
import { holdUntilDone } from './while-held.ts'

/** Smaller bodies are bounded by the number of requests. */
const SMALL_BYTES = 4_096
/** Parsed JSON takes up to 16 times its bytes, such as a list of empty objects. The limit on values bounds what comes on top of its text. */
const TEXT_TIMES = 2
const VALUES_TIMES = 14
const MAX_VALUES_BYTES = 8_388_608
/** Smaller answers are bounded by the number of connections. */
const SMALL_ANSWER_CHARS = 16_384
/** A character of an answer takes at most three bytes while it is not sent. */
const CHAR_BYTES = 3

/**
 * Memory for the bodies of requests, which may run for minutes with a slow model, and for answers whose reader is slow. `TenantShares`
 * divides it.
 */
export class BufferedBytes {
  readonly #maxBodyBytes: number
  readonly #shares: TenantShares

  /** `maxBodyBytes`: the size that a body without a length is taken for. */
  constructor(bytes: number, maxBodyBytes: number) {
    this.#shares = new TenantShares(bytes)
    this.#maxBodyBytes = maxBodyBytes
  }

  /** Call it before the body is read. Throws `unavailable` if there is no room. */
  takeBody(request: FastifyRequest, reply: FastifyReply): void {
    const length = this.#lengthOf(request.headers)
    // Larger uploads wait for a place (`uploadPlaces`), and are not parsed.
    if (length <= SMALL_BYTES || (isUpload(request) && length > LARGE_UPLOAD_BYTES)) return
    this.take(request, reply, isUpload(request) ? length : parsedBytes(length))
  }

  /** Call it before the answer is sent. Throws `unavailable` if there is no room. */
  takeAnswer(request: FastifyRequest, reply: FastifyReply, text: string): void {
    if (text.length > SMALL_ANSWER_CHARS) this.take(request, reply, text.length * CHAR_BYTES)
  }

  /** Takes so many bytes until the response has closed and the handler has ended. Throws `unavailable` if there is no room. */
  take(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
    const { caller, agent } = request
    if (caller === undefined) return
    const asker = { caller, agentId: agent?.id }
    // One is always taken, whatever its size.
    if (!this.#shares.mayHave(asker, bytes) && !this.#shares.isUntouched) throw overloaded()
    this.#shares.take(asker, bytes)
    holdUntilDone(request, reply, () => this.#shares.give(asker, bytes))
  }

  #lengthOf(headers: FastifyRequest['headers']): number {
    const { 'content-length': length, 'transfer-encoding': encoding } = headers
    return length === undefined ? (encoding === undefined ? 0 : this.#maxBodyBytes) : Number(length)
  }
}

const parsedBytes = (length: number): number => length * TEXT_TIMES + Math.min(length * VALUES_TIMES, MAX_VALUES_BYTES)
