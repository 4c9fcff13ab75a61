import type { Connection } from '../connection.ts'
import { path, type RequestOptions, request } from '../request.ts'
import type { CreateTokenBody, CreateTokenResponse } from '../types.ts'

/** Creates a token for a browser. Anyone with the token can act as this one user of this one agent. */
export const create = (
  to: Connection,
  agentId: string,
  body: CreateTokenBody,
  options?: RequestOptions,
): Promise<CreateTokenResponse> =>
  request(to, { method: 'POST', path: path`/agents/${agentId}/tokens`, body, keepsNoAnswer: true }, options)
