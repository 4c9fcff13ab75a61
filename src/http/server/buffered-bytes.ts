import type { FastifyReply, FastifyRequest } from 'fastify'
import { TenantShares } from '../../core/fairness/shares.ts'
import { overloaded } from '../route/errors.ts'
import { isUpload, LARGE_UPLOAD_BYTES } from '../route/upload.ts'
import { holdUntilDone } from './while-held.ts'

/** Smaller bodies are bounded by the number of requests. */
const SMALL_BYTES = 4_096
/** Parsed JSON takes up to 16 times its bytes, for example a list of empty objects. The limit on values bounds the part that is not text. */
const TEXT_TIMES = 2
const VALUES_TIMES = 14
const MAX_VALUES_BYTES = 8_388_608
/** Smaller answers are bounded by the number of connections. */
const SMALL_ANSWER_CHARS = 16_384
/** Bytes that a character of an unsent response takes at most. */
const CHAR_BYTES = 3

/** Memory limit for request bodies, which a slow model can occupy for minutes, and for responses to slow readers. `TenantShares` divides it. */
export class BufferedBytes {
  readonly #maxBodyBytes: number
  readonly #shares: TenantShares

  /** `maxBodyBytes`: the assumed size of a body without a length. */
  constructor(bytes: number, maxBodyBytes: number) {
    this.#shares = new TenantShares(bytes)
    this.#maxBodyBytes = maxBodyBytes
  }

  /** Reserves memory for the body. Call it before the body is read. Throws `unavailable` if there is no room. */
  takeBody(request: FastifyRequest, reply: FastifyReply): void {
    const length = this.#lengthOf(request.headers)
    // Larger uploads are not parsed, and wait for a slot (`uploadPlaces`).
    if (length <= SMALL_BYTES || (isUpload(request) && length > LARGE_UPLOAD_BYTES)) return
    this.take(request, reply, isUpload(request) ? length : parsedBytes(length))
  }

  /** Reserves memory for the response. Call it before the response is sent. Throws `unavailable` if there is no room. */
  takeAnswer(request: FastifyRequest, reply: FastifyReply, text: string): void {
    if (text.length > SMALL_ANSWER_CHARS) this.take(request, reply, text.length * CHAR_BYTES)
  }

  /** Reserves the bytes until the response has closed and the handler has ended. Throws `unavailable` if there is no room. */
  take(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
    const { caller, agent } = request
    if (caller === undefined) return
    const asker = { caller, agentId: agent?.id }
    // If nothing else is reserved, any size is accepted.
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
