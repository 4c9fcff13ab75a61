import type { Connection } from '../connection.ts'
import { path, type RequestOptions, request } from '../request.ts'
import type { GetInsightsQuery, GetInsightsResponse } from '../types.ts'

/** Reads statistics about an agent's conversations. Default period: the last 30 days. */
export const get = (
  to: Connection,
  agentId: string,
  query?: GetInsightsQuery,
  options?: RequestOptions,
): Promise<GetInsightsResponse> => request(to, { method: 'GET', path: path`/agents/${agentId}/insights`, query }, options)
