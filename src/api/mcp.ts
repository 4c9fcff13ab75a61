import type { Scope } from '../core/api-key.ts'
import type { Limits } from '../core/ports/limits.ts'
import { pageLimit } from '../core/ports/limits.ts'
import { Hit } from './documents.ts'
import { closed, FilledText, Uuid } from './fields.ts'
import { Source } from './messages.ts'
import { type TObject, type TProperties, Type } from './schema.ts'

/** A tool of the Model Context Protocol. Its definition lists, validates and types it. */
export interface McpTool<I extends TProperties = TProperties, O extends TObject = TObject> {
  title: string
  description: string
  scopes: Scope[]
  forUsers: boolean
  /** True if the tool is about one agent. Endpoints that are not for one agent then need it as an argument. */
  isOfAgent: boolean
  /** True if the tool changes nothing. */
  isReadOnly: boolean
  input: I
  output: O
}

const tool = <I extends TProperties, O extends TObject>(t: McpTool<I, O>) => t

/** The argument that names the agent, for endpoints of several agents. */
export const agentArgument = { agent: Uuid('ID of the agent, as list_agents tells it.') }

export const mcpTools = (limits: Limits) => ({
  ask: tool({
    title: 'Ask',
    description:
      'Asks the agent a question and returns its reply, which is grounded in documents and cites them with [n] marks. The answer names a session: give its id with the next question to go on with the conversation.',
    scopes: ['chat'],
    forUsers: true,
    isOfAgent: true,
    isReadOnly: false,
    input: {
      question: FilledText(limits.maxMessageChars, 'The question, in whole sentences and in any language.'),
      sessionId: Type.Optional(Uuid('The session to go on with. Left out: a new one.')),
    },
    output: Type.Object({
      reply: Type.String({ description: 'Markdown.' }),
      answered: Type.Boolean({ description: 'False: the documents do not hold the answer, or none is cited.' }),
      sources: Type.Array(Source, { description: 'What the reply cites.' }),
      followUps: Type.Optional(Type.Array(Type.String(), { description: 'Questions to go on with.' })),
      sessionId: Uuid('The session, for the next question.'),
    }),
  }),
  search: tool({
    title: 'Search',
    description:
      "Finds the passages of the agent's documents that belong to a question, best first, without a reply made of them.",
    scopes: ['knowledge'],
    forUsers: false,
    isOfAgent: true,
    isReadOnly: true,
    input: {
      query: FilledText(limits.maxMessageChars, 'A question, or words.'),
      topK: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10, description: 'Passages at most.' })),
    },
    output: Type.Object({ passages: Type.Array(Hit) }),
  }),
  list_agents: tool({
    title: 'List agents',
    description: 'Lists the agents that can be asked and searched, newest first.',
    scopes: ['chat', 'read', 'knowledge'],
    forUsers: false,
    isOfAgent: false,
    isReadOnly: true,
    input: { cursor: Type.Optional(Uuid('ID of the agent after which the page starts.')) },
    output: Type.Object({
      agents: Type.Array(Type.Object({ id: Uuid('Agent ID.'), name: Type.String() }), { maxItems: pageLimit.max }),
      nextCursor: Type.Optional(Type.String({ description: 'Where there are more.' })),
    }),
  }),
})
export type McpTools = ReturnType<typeof mcpTools>

/** Returns the schema of all arguments. */
export const inputOf = ({ input, isOfAgent }: McpTool, isOfOneAgent: boolean): TObject =>
  Type.Object(isOfAgent && !isOfOneAgent ? { ...agentArgument, ...input } : input, closed)
