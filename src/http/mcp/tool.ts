import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKey } from '../../core/api-key.ts'
import type { Deps } from '../deps.ts'
import type { EventStreams } from '../turns/event-stream.ts'

/** Context of a tool call. */
export interface ToolContext {
  deps: Deps
  streams: EventStreams
  request: FastifyRequest
  reply: FastifyReply
  key: ApiKey
  /** Sent with progress notifications; undefined if the caller wants none. */
  progressToken: string | number | undefined
  /** Whether the tool stops when the caller disconnects. */
  stopsWithCaller: boolean
}

/** Result of a tool: as data, and as text for models that do not read data. */
export interface ToolResult {
  text: string
  data: object
}
