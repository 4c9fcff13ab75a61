import type { FastifyReply, FastifyRequest } from 'fastify'
import { overloaded } from './errors.ts'
import { Shares } from './shares.ts'
import { isUpload, LARGE_UPLOAD_BYTES } from './upload.ts'
import { whenOver } from './when-over.ts'

/** Smaller bodies are bounded by the number of requests. */
const SMALL_BYTES = 4_096
/** Parsed JSON takes up to 16 times its bytes, such as a list of empty objects. The limit on values bounds what comes on top of its text. */
const TEXT_TIMES = 2
const VALUES_TIMES = 14
const MAX_VALUES_BYTES = 8_388_608

/**
 * Bodies stay in memory for as long as their requests take, which for a slow model is minutes. `Shares` divides
 * the memory among callers.
 */
export class HeldBodies {
  readonly #maxBodyBytes: number
  readonly #shares: Shares

  /** `maxBodyBytes`: what a body without a length may come to. */
  constructor(bytes: number, maxBodyBytes: number) {
    this.#shares = new Shares(bytes)
    this.#maxBodyBytes = maxBodyBytes
  }

  /** To be called before the body is read. Throws `unavailable` where there is no room. */
  take(request: FastifyRequest, reply: FastifyReply): void {
    const { headers, caller: key } = request
    const length = this.#lengthOf(headers)
    // Larger uploads wait for a place (`uploadPlaces`), and are not parsed.
    if (key === undefined || length <= SMALL_BYTES || (isUpload(request) && length > LARGE_UPLOAD_BYTES)) return
    const bytes = isUpload(request) ? length : parsedBytes(length)
    // One is always taken, however large bodies may be.
    if (!this.#shares.mayHave(key, bytes) && !this.#shares.isUntouched) throw overloaded()
    this.#shares.take(key, bytes)
    whenOver(request, reply, () => this.#shares.give(key, bytes))
  }

  #lengthOf(headers: FastifyRequest['headers']): number {
    const { 'content-length': length, 'transfer-encoding': encoding } = headers
    return length === undefined ? (encoding === undefined ? 0 : this.#maxBodyBytes) : Number(length)
  }
}

const parsedBytes = (length: number): number => length * TEXT_TIMES + Math.min(length * VALUES_TIMES, MAX_VALUES_BYTES)
