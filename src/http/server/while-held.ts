import type { FastifyReply, FastifyRequest } from 'fastify'
import { ReparteeError } from '../../core/errors.ts'
import { whenOver } from './when-over.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `whileHeld` and `holdUntilDone`: the work of the handler, or that the request was over before it began. */
    heldWork?: Promise<unknown> | 'over'
  }
}

/**
 * Does the work of a handler. What the request holds, such as memory for its body, is held until this work has ended, because the work goes on after the
 * caller leaves. Throws `unavailable` if the caller left before the work began.
 */
export function whileHeld<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  if (request.heldWork === 'over') throw new ReparteeError('unavailable', 'The caller has left.')
  const result = work()
  request.heldWork = result
  return result
}

/** Calls `give` once, when the response has closed and the handler has ended. */
export function holdUntilDone(request: FastifyRequest, reply: FastifyReply, give: () => void): void {
  whenOver(request, reply, () => {
    const { heldWork: work } = request
    if (work instanceof Promise) work.then(give, give)
    else {
      request.heldWork = 'over'
      give()
    }
  })
}
