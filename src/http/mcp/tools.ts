import { listAgents } from '../../agents/agents.ts'
import { inputOf, type McpTool, type McpTools } from '../../api/mcp.ts'
import type { Static, TObject } from '../../api/schema.ts'
import type { Agent } from '../../core/agent.ts'
import type { ApiKey } from '../../core/api-key.ts'
import { ReparteeError } from '../../core/errors.ts'
import { pageLimit } from '../../core/ports/limits.ts'
import { retrieve } from '../../retrieval/retrieve.ts'
import { lazySerializer } from '../json/serializer.ts'
import { checkScope, getAgentFor } from '../route/admit.ts'
import { toReparteeError } from '../route/errors.ts'
import { validator } from '../route/validation.ts'
import { slicingFor } from '../server/slicing.ts'
import { ask } from './ask.ts'
import type { Json } from './message.ts'
import type { ToolContext, ToolResult } from './tool.ts'

type Name = keyof McpTools
type InputOf<N extends Name> = Static<TObject<McpTools[N]['input']>>
const run: { [N in Name]: (work: ToolContext, input: InputOf<N>, agent: Agent) => Promise<ToolResult> } = {
  ask,
  search,
  list_agents,
}

interface Tool {
  tool: McpTool
  input: TObject
  check: (input: unknown) => void
  /** Omits fields that the contract does not name. */
  serialise: (data: unknown) => string
}

/** The tools of one endpoint. */
export class Toolbox {
  readonly #tools: Map<Name, Tool>

  constructor(tools: McpTools, isOfOneAgent: boolean) {
    const all = Object.entries(tools) as unknown as [Name, McpTool][]
    this.#tools = new Map(
      all
        .filter(([, { isOfAgent }]) => isOfAgent || !isOfOneAgent)
        .map(([name, tool]) => {
          const input = inputOf(tool, isOfOneAgent)
          return [name, { tool, input, check: validator(input, 'arguments'), serialise: lazySerializer(tool.output) }]
        }),
    )
  }

  /** Returns the tools that a key may use, always in the same order. */
  list(key: ApiKey): Json[] {
    return [...this.#tools].filter(([, { tool }]) => isAllowed(tool, key)).map(([name, tool]) => describe(name, tool))
  }

  has(name: string): name is Name {
    return this.#tools.has(name as Name)
  }

  /** Calls a tool. An error is returned as a result, so that a model can correct itself. */
  async call(name: Name, input: Json, agent: Agent | undefined, work: ToolContext): Promise<Json> {
    const { tool, check, serialise } = this.#tools.get(name)!
    try {
      checkScope(tool, work.key)
      check(input)
      const named = input['agent'] as string | undefined
      const own = named === undefined ? agent : await getAgentFor(work.deps, work.key, named.toLowerCase())
      if (own !== undefined) work.request.server.refuseTooMuch(own.id, work.key)
      const find = run[name] as (work: ToolContext, input: Json, agent: Agent | undefined) => Promise<ToolResult>
      const { text, data } = await find(work, input, own)
      return { content: [{ type: 'text', text }], structuredContent: JSON.parse(serialise(data)) }
    } catch (thrown) {
      const error = toReparteeError(thrown)
      work.request.server.logFailure(work.request, error)
      return { content: [{ type: 'text', text: toText(error) }], isError: true }
    }
  }
}

const describe = (name: string, { tool, input }: Tool): Json => ({
  name,
  title: tool.title,
  description: tool.description,
  inputSchema: input,
  outputSchema: tool.output,
  annotations: { readOnlyHint: tool.isReadOnly, destructiveHint: false, openWorldHint: false },
})

function isAllowed(tool: McpTool, key: ApiKey): boolean {
  try {
    checkScope(tool, key)
    return true
  } catch (error) {
    if (error instanceof ReparteeError) return false
    throw error
  }
}

const toText = ({ code, message, details = [], retryAfter }: ReparteeError): string =>
  [
    `${code}: ${message}`,
    ...details.map(({ path, message }) => `${path} ${message}`).filter((line) => !message.includes(line)),
    ...(retryAfter === undefined ? [] : [`Try again in ${retryAfter} s.`]),
  ].join('\n')

async function search({ deps, key }: ToolContext, { query, topK = 10 }: InputOf<'search'>, agent: Agent): Promise<ToolResult> {
  const payer = { agent, userId: key.userId, key }
  const { hits } = await retrieve(deps, payer, { query, topK, history: [] }, new AbortController().signal)
  const passages = hits.map(({ documentId, passageId, title, heading, text, score, url }) => ({
    documentId,
    passageId,
    title,
    heading,
    text,
    score,
    url,
  }))
  const shown = passages.map(({ title, heading, text, url }, i) => {
    const place = [title, heading, url].filter((part) => part !== null && part !== '').join(' · ')
    return `[${i + 1}] ${place}\n${text}`
  })
  return { text: shown.join('\n\n') || 'Nothing was found.', data: { passages } }
}

async function list_agents({ deps, key, request, reply }: ToolContext, { cursor }: InputOf<'list_agents'>): Promise<ToolResult> {
  await request.server.listPlaces.take(request, reply)
  const input = { limit: pageLimit.max, ...(cursor === undefined ? {} : { cursor: cursor.toLowerCase() }) }
  const page = await listAgents(deps, key.agentIds, input, slicingFor(request, key))
  const agents = page.items.map(({ id, name }) => ({ id, name }))
  const next = page.hasMore ? { nextCursor: agents.at(-1)!.id } : {}
  return { text: agents.map(({ id, name }) => `${id} ${name}`).join('\n') || 'There are none.', data: { agents, ...next } }
}
