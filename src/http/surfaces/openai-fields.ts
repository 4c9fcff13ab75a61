import { type Static, Type } from '../../api/schema.ts'
import type { Agent } from '../../core/agent.ts'
import type { ApiKey } from '../../core/api-key.ts'
import { invalid, ReparteeError } from '../../core/errors.ts'
import type { Role } from '../../core/message.ts'
import { isUuid, namedId } from '../../core/platform/ids.ts'
import { own } from '../../core/platform/own.ts'
import { MAX_IMPORTED_MESSAGES, MAX_OUTPUT_TOKENS } from '../../core/ports/limits.ts'
import type { Usage } from '../../reply/trace.ts'
import type { Deps } from '../deps.ts'
import { toShown } from '../route/body.ts'
import { isLonger } from '../route/validation.ts'
import { unsupported } from './openai-errors.ts'
import { getNamedAgent } from './surface-route.ts'

/** OpenAI's own limits. */
export const Metadata = Type.Record(Type.String({ pattern: '^[\\s\\S]*$' }), Type.String({ maxLength: 512 }), {
  maxProperties: 16,
  propertyNames: { maxLength: 64 },
})

/** One message as clients send it, in either protocol. */
export const GivenMessage = Type.Object({
  type: Type.Optional(Type.String()),
  role: Type.Optional(Type.String()),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String(), text: Type.Optional(Type.String()) }))]),
  ),
  tool_calls: Type.Optional(Type.Array(Type.Unknown())),
})
export type Given = Static<typeof GivenMessage>

/** Fields that would change the meaning of the answer. */
export const Unsupported = {
  tool_choice: Type.Optional(Type.Unknown()),
  stop: Type.Optional(Type.Unknown()),
}

/** A conversation as it was sent: additional context, history, and the last message, which asks. */
export interface Conversation {
  additionalContext: string | undefined
  history: { role: Role; content: string }[]
  message: string
}

const ROLES: Record<string, Role | 'context'> = { user: 'USER', assistant: 'AI', system: 'context', developer: 'context' }
const TEXTS = ['text', 'input_text', 'output_text', 'refusal']

/** Divides messages into context and history. Throws `invalid_request` for content that agents cannot read. */
export function readMessages(messages: Given[], path: string): Pick<Conversation, 'history'> & { context: string[] } {
  const context: string[] = []
  const history: Conversation['history'] = []
  for (const [i, given] of messages.entries()) {
    const at = `${path}[${i}]`
    const role = own(ROLES, given.role ?? '')
    if ((given.type ?? 'message') !== 'message')
      throw unsupported(`${at}.type`, `${toShown(given.type!)} is not supported: agents take messages.`)
    if (role === undefined)
      throw unsupported(`${at}.role`, 'must be system, developer, user or assistant: others are not supported.')
    if (given.tool_calls?.length) throw unsupported(`${at}.tool_calls`, 'is not supported: agents call no tools of yours.')
    const content = readText(given.content, `${at}.content`)
    if (role === 'context') context.push(content)
    else if (content.trim() !== '') history.push({ role, content })
    else if (role === 'USER') throw invalid(`${at}.content`, 'must not be blank')
  }
  return { context, history }
}

/** Reads a conversation that asks something. System and developer messages come from the caller, not from the agent: they are context, not instructions. */
export function readConversation(deps: Deps, messages: Given[], path: string, instructions?: string): Conversation {
  const { context, history } = readMessages(messages, path)
  const last = history.pop()
  if (last?.role !== 'USER') throw invalid(path, 'must end with a message of the user')
  const additionalContext = [...(instructions === undefined ? [] : [instructions]), ...context].join('\n\n')
  const { maxMessageChars, maxContextChars } = deps.limits
  checkLength(path, 'the last message', last.content, maxMessageChars)
  checkLength(path, 'system and developer messages together', additionalContext, maxContextChars)
  return {
    additionalContext: additionalContext.trim() === '' ? undefined : additionalContext,
    history,
    message: last.content,
  }
}

function readText(content: Given['content'], path: string): string {
  if (content === undefined) return ''
  if (typeof content === 'string') return content
  const other = content.findIndex(({ type }) => !TEXTS.includes(type))
  if (other !== -1)
    throw unsupported(`${path}[${other}].type`, `${toShown(content[other]!.type)} is not supported: agents read text.`)
  return content.map(({ text = '' }) => text).join('\n')
}

export function checkLength(path: string, what: string, text: string, maxChars: number): void {
  if (isLonger(text, maxChars)) throw invalid(path, `is too long: ${what} may have ${maxChars} characters`)
}

/** Throws `invalid_request` if the request requires a tool call or sets stop sequences. */
export function refuseUnsupported({ tool_choice, stop }: { tool_choice?: unknown; stop?: unknown }): void {
  if (tool_choice !== undefined && tool_choice !== 'auto' && tool_choice !== 'none')
    throw unsupported('body.tool_choice', 'must be auto or none: agents call no tools of yours.')
  if (typeof stop === 'string' || (Array.isArray(stop) && stop.length > 0))
    throw unsupported('body.stop', 'is not supported: leave it out.')
}

export const Format = Type.Optional(Type.Object({ type: Type.Optional(Type.String()) }))

export function refuseFormat(path: string, type = 'text'): void {
  if (type !== 'text') throw unsupported(path, `${toShown(type)} is not supported: agents answer with text.`)
}

/** Returns the agent whose id is `model`, also with the prefix `repartee/`. Throws `agent_not_found`. */
export async function getModel(deps: Deps, key: ApiKey, model: string): Promise<Agent> {
  try {
    return await getNamedAgent(deps, key, model.replace(/^repartee\//, ''))
  } catch (error) {
    if (!(error instanceof ReparteeError && error.code === 'agent_not_found')) throw error
    throw new ReparteeError(
      'agent_not_found',
      'There is no such model, or this key may not see it: model is the id of an agent.',
      {
        details: [{ path: 'body.model', message: 'is no agent that this key may see' }],
      },
    )
  }
}

/** Namespace of the UUIDs that are made from user names. */
const USERS = '5d0c5a5e-6f3b-5b0e-9c57-3f8f6f1f0a53'

/** Returns the end user of a request: the user of the token, else the named user. A name that is not a UUID becomes one (version 5). */
export function userIdOf(key: ApiKey, name: string | undefined): string | undefined {
  if (key.userId !== undefined) return key.userId
  if (name === undefined || name === '') return undefined
  return isUuid(name) ? name.toLowerCase() : namedId(USERS, name)
}

/**
 * Checks a conversation that becomes a session. Throws `invalid_request` if it is too long. Throws `forbidden` if a user token sends messages of the agent:
 * they would look like the agent's own words.
 */
export function checkImport(key: ApiKey, history: Conversation['history'], path: string): void {
  if (history.length > MAX_IMPORTED_MESSAGES) throw invalid(path, `must have at most ${MAX_IMPORTED_MESSAGES} messages`)
  if (key.userId !== undefined && history.some(({ role }) => role === 'AI'))
    throw new ReparteeError(
      'forbidden',
      `\`${path}\` may not hold messages of the assistant with a token of a user. Send them with an API key.`,
    )
}

/** Limits the reply to fewer tokens than the agent's own limit. A request cannot raise that limit. */
export function withAtMost(agent: Agent, tokens: number | undefined): Agent {
  if (tokens === undefined || tokens >= (agent.maxOutputTokens ?? MAX_OUTPUT_TOKENS)) return agent
  return { ...agent, maxOutputTokens: tokens }
}

/** These protocols have no follow-ups, so the turn does not wait for them. */
export const withoutFollowUps = (agent: Agent): Agent => ({ ...agent, followUps: { ...agent.followUps, enabled: false } })

export const toSeconds = (ms: number): number => Math.floor(ms / 1_000)

export const tokensOf = (usage: Usage | null) => {
  const { tokensIn = 0, tokensOut = 0, tokensCached = 0 } = usage ?? {}
  return { tokensIn, tokensOut, tokensCached, total: tokensIn + tokensOut }
}
