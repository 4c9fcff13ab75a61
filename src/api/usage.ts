import { closed, Nothing, Success, Timestamp, Uuid } from './fields.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

const NumberOrNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })
const Usage = Type.Object({
  date: Type.String({ description: 'The day (UTC), `2026-11-20`.' }),
  resetsAt: Timestamp('When the next day begins.'),
  tokens: Type.Integer({ description: 'Tokens in and out of models, with what is set aside for replies that are being made.' }),
  cost: Type.Number({ description: 'US dollars.' }),
  tokensPerDay: NumberOrNull('The budget of tokens; null where there is none.'),
  costPerDay: NumberOrNull('The budget in US dollars; null where there is none.'),
})
const response = Type.Object({
  success: Success,
  usage: Type.Union([Usage, Type.Null()], { description: 'Null where there is no budget: then nothing is counted against one.' }),
})

export const usageOperations = () => ({
  getAgentUsage: operation({
    id: 'getAgentUsage',
    method: 'GET',
    path: '/agents/{agentId}/usage',
    tag: 'Usage',
    summary: 'What an agent, or one of its users, has used of the budget of the day',
    scopes: ['admin'],
    params: Type.Object({ agentId: Uuid('The agent.') }, closed),
    query: Type.Object({ externalUserId: Type.Optional(Uuid('Of this user alone.')) }, closed),
    status: 200,
    response,
  }),
  getKeyUsage: operation({
    id: 'getKeyUsage',
    method: 'GET',
    path: '/keys/{keyId}/usage',
    tag: 'Usage',
    summary: 'What was used with a key of its budget of the day',
    scopes: ['admin'],
    params: Type.Object({ keyId: Uuid('The key.') }, closed),
    query: Nothing,
    status: 200,
    response,
  }),
})
