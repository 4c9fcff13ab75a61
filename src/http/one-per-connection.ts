import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Requests that were sent down a connection without waiting for answers are worked on one after the other: a client that does not read holds
 * one answer, however many it asked for.
 */
export function onePerConnection(): (socket: Socket, response: ServerResponse) => Promise<void> | undefined {
  const last = new WeakMap<Socket, Promise<void>>()
  return (socket, response) => {
    const earlier = last.get(socket)
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = () => {
      if (last.get(socket) === promise) last.delete(socket)
      resolve()
    }
    last.set(socket, promise)
    response.once('close', done)
    return earlier
  }
}
