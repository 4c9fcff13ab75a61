import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { whenOver } from '../server/when-over.ts'

/** A client repeats a request two or three times. More copies are refused. */
const MAX_WAITING = 2

/** Running requests with a key in this process, and other attempts at them that wait for the answer. */
export class Attempts {
  readonly #working = new Map<string, Promise<unknown>>()
  readonly #waiting = new Map<string, number>()

  /** Returns a name of fixed length, because a key may be long. */
  static nameOf(apiKeyId: string, key: string): string {
    return createHash('sha256').update(`${apiKeyId}\0${key}`).digest('base64')
  }

  async work<T>(name: string, work: () => Promise<T>): Promise<T> {
    const result = work()
    const settled = result.catch(() => {})
    this.#working.set(name, settled)
    try {
      return await result
    } finally {
      if (this.#working.get(name) === settled) this.#working.delete(name)
    }
  }

  /** Resolves when the work ends here, after `ms` if it runs elsewhere, or when the request is over. Resolves to false immediately if too many wait. */
  async wait(name: string, request: FastifyRequest, reply: FastifyReply, ms: number): Promise<boolean> {
    const others = this.#waiting.get(name) ?? 0
    if (others >= MAX_WAITING) return false
    this.#waiting.set(name, others + 1)
    const over = Promise.withResolvers<void>()
    const forget = whenOver(request, reply, over.resolve)
    const timeout = new AbortController()
    const { signal } = timeout
    try {
      await Promise.race([this.#working.get(name) ?? pause(ms, undefined, { signal }), over.promise])
    } finally {
      forget()
      timeout.abort()
      const left = this.#waiting.get(name)! - 1
      if (left === 0) this.#waiting.delete(name)
      else this.#waiting.set(name, left)
    }
    return true
  }
}
