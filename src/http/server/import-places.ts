import type { FastifyReply, FastifyRequest } from 'fastify'

/** Imports of fewer messages and bytes take no longer than other writes. */
const TINY_MESSAGES = 10
const TINY_BYTES = 16_384
/** A slot does not rest after smaller imports. */
const SMALL_MESSAGES = 100
const SMALL_BYTES = 65_536

/** Imports `messages` messages. All but tiny imports wait for a slot. Throws `unavailable` if the caller disconnects first. */
export async function importInTurn<T>(
  { request, reply, agentId }: { request: FastifyRequest; reply: FastifyReply; agentId: string },
  messages: number,
  work: () => Promise<T>,
): Promise<T> {
  const bytes = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY)
  if (messages <= TINY_MESSAGES && bytes <= TINY_BYTES) return work()
  const { importPlaces, smallImportPlaces } = request.server
  if (messages > SMALL_MESSAGES || bytes > SMALL_BYTES) return importPlaces.withRest(request, reply, agentId, work)
  return smallImportPlaces.within(request, reply, agentId, work)
}
