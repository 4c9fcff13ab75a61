import type { Connection } from '../connection.ts'
import { path, type RequestOptions, request } from '../request.ts'
import type { ListModelsResponse } from '../types.ts'

/** Lists the models that this deployment can use. */
export const list = (to: Connection, options?: RequestOptions): Promise<ListModelsResponse> =>
  request(to, { method: 'GET', path: path`/models` }, options)
