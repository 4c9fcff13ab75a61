import type { FastifyReply, FastifyRequest } from 'fastify'

/** Imports of fewer messages take no longer than other writes. */
const SMALL_MESSAGES = 100

/** Imports `messages` messages. Large imports wait for a place. Throws `unavailable` if the caller leaves before. */
export function importInTurn<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  messages: number,
  work: () => Promise<T>,
): Promise<T> {
  return messages <= SMALL_MESSAGES ? work() : request.server.importPlaces.withRest(request, reply, work)
}
