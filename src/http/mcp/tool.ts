import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKey } from '../../core/api-key.ts'
import type { Deps } from '../deps.ts'
import type { EventStreams } from '../turns/event-stream.ts'

/** What a tool works with. */
export interface ToolContext {
  deps: Deps
  streams: EventStreams
  request: FastifyRequest
  reply: FastifyReply
  key: ApiKey
  /** Goes into reports of progress; undefined if the caller wants none. */
  progressToken: string | number | undefined
  /** The caller gives up by going away. */
  stopsWithCaller: boolean
}

/** What a tool found: as data, and as text for models that read no data. */
export interface ToolResult {
  text: string
  data: object
}
