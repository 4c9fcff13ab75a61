import type { Connection } from '../connection.ts'
import { eachItem } from '../pages.ts'
import { type Call, type PostOptions, path, type RequestOptions, request } from '../request.ts'
import { streamTurn, type TurnStream } from '../turn.ts'
import type {
  Agent,
  Answer,
  CreateAgentBody,
  CreateAgentResponse,
  DeleteAgentResponse,
  GetAgentResponse,
  GetAgentUsageQuery,
  GetAgentUsageResponse,
  GetProfileResponse,
  ListAgentsQuery,
  ListAgentsResponse,
  PreviewAgentBody,
  UpdateAgentBody,
  UpdateAgentResponse,
} from '../types.ts'

/** Creates an agent. */
export const create = (to: Connection, body: CreateAgentBody, options?: PostOptions): Promise<CreateAgentResponse> =>
  request(to, { method: 'POST', path: path`/agents`, body }, options)

/** Lists agents, newest first, a page at a time. */
export const list = (to: Connection, query?: ListAgentsQuery, options?: RequestOptions): Promise<ListAgentsResponse> =>
  request(to, { method: 'GET', path: path`/agents`, query }, options)

/** All agents, newest first. */
export const iterate = (to: Connection, query?: ListAgentsQuery, options?: RequestOptions): AsyncGenerator<Agent, void> =>
  eachItem(
    query,
    (page) => list(to, page, options),
    ({ agents }) => agents,
  )

/** Reads an agent, with its counts. */
export const get = (to: Connection, agentId: string, options?: RequestOptions): Promise<GetAgentResponse> =>
  request(to, { method: 'GET', path: path`/agents/${agentId}` }, options)

/** Reads an agent's public profile. A user token is enough. */
export const profile = (to: Connection, agentId: string, options?: RequestOptions): Promise<GetProfileResponse> =>
  request(to, { method: 'GET', path: path`/agents/${agentId}/profile` }, options)

/** Reads how much of the day's budget an agent, or one of its users, has used. */
export const usage = (
  to: Connection,
  agentId: string,
  query?: GetAgentUsageQuery,
  options?: RequestOptions,
): Promise<GetAgentUsageResponse> => request(to, { method: 'GET', path: path`/agents/${agentId}/usage`, query }, options)

/** Changes an agent. Nested objects are merged field by field. */
export const update = (
  to: Connection,
  agentId: string,
  body: UpdateAgentBody,
  options?: RequestOptions,
): Promise<UpdateAgentResponse> => request(to, { method: 'PATCH', path: path`/agents/${agentId}`, body }, options)

const previewing = (agentId: string, body: PreviewAgentBody): Call => ({
  method: 'POST',
  path: path`/agents/${agentId}/preview`,
  body,
})

/** Tries changes to an agent in a conversation that is not stored. Resolves to the complete answer. */
export const preview = (to: Connection, agentId: string, body: PreviewAgentBody, options?: PostOptions): Promise<Answer> =>
  request(to, previewing(agentId, body), options)

/** Tries changes to an agent and yields the turn's events. Repeats the request if the stream breaks. */
export const streamPreview = (to: Connection, agentId: string, body: PreviewAgentBody, options?: PostOptions): TurnStream =>
  streamTurn(to, { first: previewing(agentId, body), resume: () => undefined }, options)

/** Deletes an agent permanently, with its sessions and its knowledge base. */
const remove = (to: Connection, agentId: string, options?: RequestOptions): Promise<DeleteAgentResponse> =>
  request(to, { method: 'DELETE', path: path`/agents/${agentId}` }, options)

export { remove as delete }
