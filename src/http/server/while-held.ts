import type { FastifyReply, FastifyRequest } from 'fastify'
import { ReparteeError } from '../../core/errors.ts'
import { whenOver } from './when-over.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `whileHeld` and `holdUntilDone`: the work of the handler, or `over` if the request ended before the work began. */
    heldWork?: Promise<unknown> | 'over'
  }
}

/**
 * Runs the work of a handler. It continues after the caller disconnects, so resources of the request, such as memory for its body, stay reserved until it ends.
 * Throws `unavailable` if the caller disconnects before the work begins.
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
