import type { Connection } from '../connection.ts'
import { path, type RequestOptions, request } from '../request.ts'
import type { GetInsightsQuery, GetInsightsResponse } from '../types.ts'

/** What came of the conversations with an agent; of the last 30 days, unless other times are given. */
export const get = (
  to: Connection,
  agentId: string,
  query?: GetInsightsQuery,
  options?: RequestOptions,
): Promise<GetInsightsResponse> => request(to, { method: 'GET', path: path`/agents/${agentId}/insights`, query }, options)
