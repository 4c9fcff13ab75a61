import type { FastifyReply, FastifyRequest } from 'fastify'

/** A smaller body takes no more memory than any other request's. */
const LARGE_BYTES = 1_048_576

/** So many large bodies are taken in at once, each held in memory until it is stored; the others wait before they are read. */
export class UploadSlots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(slots: number) {
    this.#free = slots
  }

  /** Resolves when the body may be read; undefined where that is now. */
  take({ headers }: FastifyRequest, { raw }: FastifyReply): Promise<void> | undefined {
    const length = headers['content-length']
    if (length !== undefined && Number(length) <= LARGE_BYTES) return undefined
    if (this.#free > 0) {
      this.#free--
      raw.once('close', this.#give)
      return undefined
    }
    return new Promise((resolve) => {
      const go = () => {
        raw.off('close', leave)
        raw.once('close', this.#give)
        resolve()
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        resolve()
      }
      raw.once('close', leave)
      this.#waiting.push(go)
    })
  }

  readonly #give = (): void => {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
