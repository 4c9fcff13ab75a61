import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerIdOf } from '../core/api-key.ts'
import { overloaded } from './errors.ts'

/** Smaller bodies are bounded by the number of requests. */
const LARGE_BYTES = 65_536

/**
 * Large bodies stay in memory for as long as their requests take, which for a slow model is minutes. So many bytes of them are held at once; a caller may
 * have as much as stays free, so that there is always some left for somebody who has none.
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
  take({ headers, caller: key }: FastifyRequest, { raw }: FastifyReply): void {
    const bytes = this.#bytesOf(headers)
    if (key === undefined || bytes <= LARGE_BYTES) return
    const caller = callerIdOf(key)
    const held = this.#held.get(caller) ?? 0
    // One is always taken, however large bodies may be.
    if (held + bytes > this.#free && this.#free < this.#bytes) throw overloaded()
    this.#free -= bytes
    this.#held.set(caller, held + bytes)
    raw.once('close', () => {
      this.#free += bytes
      const left = this.#held.get(caller)! - bytes
      if (left === 0) this.#held.delete(caller)
      else this.#held.set(caller, left)
    })
  }

  #bytesOf(headers: FastifyRequest['headers']): number {
    const { 'content-length': length, 'transfer-encoding': encoding } = headers
    return length === undefined ? (encoding === undefined ? 0 : this.#maxBodyBytes) : Number(length)
  }
}
