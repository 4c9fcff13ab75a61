import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerIdOf } from '../core/api-key.ts'
import { overloaded } from './errors.ts'
import { isUpload, LARGE_UPLOAD_BYTES } from './upload.ts'
import { whenOver } from './when-over.ts'

/** Smaller bodies are bounded by the number of requests. */
const SMALL_BYTES = 4_096
/** Parsed JSON takes up to 16 times its bytes, such as a list of empty objects. The limit on values bounds what comes on top of its text. */
const TEXT_TIMES = 2
const VALUES_TIMES = 14
const MAX_VALUES_BYTES = 8_388_608

/**
 * Bodies stay in memory for as long as their requests take, which for a slow model is minutes. So many bytes are held at once; a caller may have as much as
 * stays free, so that there is always some left for somebody who has none.
 */
export class HeldBodies {
  readonly #bytes: number
  #free: number
  readonly #maxBodyBytes: number
  readonly #held = new Map<string, number>()

  /** `maxBodyBytes`: what a body without a length may come to. */
  constructor(bytes: number, maxBodyBytes: number) {
    this.#bytes = bytes
    this.#free = bytes
    this.#maxBodyBytes = maxBodyBytes
  }

  /** To be called before the body is read. Throws `unavailable` where there is no room. */
  take(request: FastifyRequest, reply: FastifyReply): void {
    const { headers, caller: key } = request
    const length = this.#lengthOf(headers)
    // Larger uploads wait for a place (`uploadPlaces`), and are not parsed.
    if (key === undefined || length <= SMALL_BYTES || (isUpload(request) && length > LARGE_UPLOAD_BYTES)) return
    const bytes = isUpload(request) ? length : parsedBytes(length)
    const caller = callerIdOf(key)
    const held = this.#held.get(caller) ?? 0
    // One is always taken, however large bodies may be.
    if (held + bytes > this.#free && this.#free < this.#bytes) throw overloaded()
    this.#free -= bytes
    this.#held.set(caller, held + bytes)
    whenOver(request, reply, () => {
      this.#free += bytes
      const left = this.#held.get(caller)! - bytes
      if (left === 0) this.#held.delete(caller)
      else this.#held.set(caller, left)
    })
  }

  #lengthOf(headers: FastifyRequest['headers']): number {
    const { 'content-length': length, 'transfer-encoding': encoding } = headers
    return length === undefined ? (encoding === undefined ? 0 : this.#maxBodyBytes) : Number(length)
  }
}

const parsedBytes = (length: number): number => length * TEXT_TIMES + Math.min(length * VALUES_TIMES, MAX_VALUES_BYTES)
