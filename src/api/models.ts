import { Nothing, Success } from './fields.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

export const modelOperations = () => ({
  listModels: operation({
    id: 'listModels',
    method: 'GET',
    path: '/models',
    tag: 'Agents',
    summary: 'List the models that this deployment can use',
    scopes: ['admin'],
    params: Nothing,
    query: Nothing,
    status: 200,
    response: Type.Object({
      success: Success,
      models: Type.Array(Type.Object({ id: Type.String(), provider: Type.String(), kind: Type.Enum(['chat', 'embedding']) })),
    }),
  }),
})
