import type { FastifyRequest } from 'fastify'
import { type ApiKey, callerIdOf } from '../../core/api-key.ts'
import type { Slicing } from '../../store/tables/sessions.ts'

/** Slices of work for a request: callers take turns, and the work stops when its caller has disconnected. */
export const slicingFor = ({ raw: { socket } }: FastifyRequest, key: ApiKey): Required<Slicing> => ({
  owner: callerIdOf(key),
  isWanted: () => !socket.destroyed,
})
