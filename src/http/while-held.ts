import type { FastifyReply, FastifyRequest } from 'fastify'
import { ReparteeError } from '../core/errors.ts'
import { whenOver } from './when-over.ts'

/** Of requests that hold something: the work of their handlers, or that they were over before it began. */
const works = new WeakMap<FastifyRequest, Promise<unknown> | 'over'>()

/**
 * Does the work of a handler. What the request holds, such as memory for its body, is held until this work has ended, because the work goes on after the
 * caller leaves. Throws `unavailable` if the caller left before the work began.
 */
export function whileHeld<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  if (works.get(request) === 'over') throw new ReparteeError('unavailable', 'The caller has left.')
  const result = work()
  works.set(request, result)
  return result
}

/** Calls `give` once, when the response has closed and the handler has ended. */
export function holdUntilDone(request: FastifyRequest, reply: FastifyReply, give: () => void): void {
  whenOver(request, reply, () => {
    const work = works.get(request)
    if (work instanceof Promise) work.then(give, give)
    else {
      works.set(request, 'over')
      give()
    }
  })
}
