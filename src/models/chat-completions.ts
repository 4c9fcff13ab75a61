import type { IncomingMessage } from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { ReparteeError } from '../core/errors.ts'
import { own } from '../core/platform/own.ts'
import type { ChatModel, Finish, ModelCall, ModelReply, ModelRequest, ModelUsage, PromptMessage } from '../core/ports/model.ts'
import { headersOf, type Provider } from './provider.ts'
import { brokeOff, endedEarly, notUnderstood, Refusal } from './transport/failure.ts'
import { GrowingText } from './transport/growing-text.ts'
import { below, inTurn, isJson, parseJson, readBody, readJson, send } from './transport/http.ts'
import { count, type ModelOutcome, toReply } from './transport/reply.ts'

/** Opens a model with the OpenAI chat-completions protocol (https://platform.openai.com/docs/api-reference/chat). */
export function chatCompletionsModel(name: string, provider: Provider): ChatModel {
  const url = below(provider.baseUrl, '/chat/completions')
  const headers = headersOf(provider)
  /** The dialect of the last call that succeeded with another one. */
  let known = dialectOf(provider, name)
  const ask = async (request: ModelRequest, { signal, onText, keyId }: ModelCall): Promise<IncomingMessage> => {
    const first = known
    for (let dialect = first; ; ) {
      try {
        const body = JSON.stringify(toBody(name, dialect, request, onText !== undefined))
        const owner = { agentId: request.grounding.agentId, keyId }
        const response = await send(url, { headers, body, signal, owner })
        // A refusal alone does not change the dialect of other callers: only this caller's value or prompt may cause it.
        if (dialect !== first) known = dialect
        return response
      } catch (error) {
        const other = nextDialect(dialect, first, error)
        if (other === undefined) throw error
        dialect = other
      }
    }
  }
  return {
    async generate(request, call) {
      const response = await ask(request, call)
      const { signal, onText } = call
      if (onText !== undefined && !isJson(response)) return readStream(name, response, signal, onText)
      const reply = toReply(name, toOutcome(await readJson(response, signal)))
      onText?.(reply.text)
      return reply
    },
  }
}

/**
 * The fields that differ between servers. OpenAI's newest models require `max_completion_tokens`, most other servers support only `max_tokens`.
 * Older servers refuse `stream_options` or `response_format`.
 */
interface Dialect {
  limit: 'max_tokens' | 'max_completion_tokens'
  fields: ReadonlySet<string>
}

function dialectOf({ name }: Provider, model: string): Dialect {
  const fields = new Set(['stream_options', 'response_format'])
  if (name === 'openai' && CACHES_AT_MARKS.test(model)) fields.add('prompt_cache')
  return { limit: name === 'openai' ? 'max_completion_tokens' : 'max_tokens', fields }
}

function toBody(
  model: string,
  { limit, fields }: Dialect,
  { prompt, temperature, maxOutputTokens, json }: ModelRequest,
  stream: boolean,
): object {
  return {
    model,
    messages: fields.has('prompt_cache') ? withCacheMarks(prompt) : prompt,
    ...(fields.has('prompt_cache') ? { prompt_cache_options: EXPLICIT } : {}),
    ...(temperature === null ? {} : { temperature }),
    ...(maxOutputTokens === null ? {} : { [limit]: maxOutputTokens }),
    ...(json && fields.has('response_format')
      ? { response_format: { type: 'json_schema', json_schema: { ...json, strict: true } } }
      : {}),
    ...(stream ? { stream } : {}),
    ...(stream && fields.has('stream_options') ? { stream_options: { include_usage: true } } : {}),
  }
}

/** Matches a refusal of a field, not of its value: "max_tokens is too large" is no reason to rename the field. */
const SAYS_UNKNOWN =
  /not support|unsupported|unknown|unrecogni[sz]ed|unexpected|extra|additional|not permitted|not allowed|forbidden|instead/i

/** Returns the dialect to try after a refusal that names a field, undefined if it names none. A call changes the limit field once. */
function nextDialect({ limit, fields }: Dialect, first: Dialect, error: unknown): Dialect | undefined {
  const cause = error instanceof ReparteeError ? error.cause : undefined
  if (!(cause instanceof Refusal) || (cause.status !== 400 && cause.status !== 422)) return undefined
  const { message } = cause
  if (limit === first.limit && message.includes(limit) && SAYS_UNKNOWN.test(message))
    return { limit: limit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens', fields }
  const refused = [...fields].find((field) => message.includes(field))
  return refused === undefined ? undefined : { limit, fields: new Set([...fields].filter((field) => field !== refused)) }
}

/**
 * From GPT-5.6 on. These models cache a prompt up to each mark, at a quarter more than the price, and read only what ended at a mark.
 * By default the mark is at the end of the newest message, whose passages never occur again.
 */
const CACHES_AT_MARKS = /^gpt-(?:5\.(?:[6-9]|\d\d)|[6-9]|\d\d)/
const EXPLICIT = { mode: 'explicit' }

/** Marks the instructions and the two previous user messages: the earlier mark is read, the later is written for the next call. */
function withCacheMarks(prompt: PromptMessage[]): object[] {
  const past = prompt.slice(0, -1)
  const marked = new Set([
    ...past.filter(({ role }) => role === 'system'),
    ...past.filter(({ role }) => role === 'user').slice(-2),
  ])
  return prompt.map((message) =>
    marked.has(message)
      ? { ...message, content: [{ type: 'text', text: message.content, prompt_cache_breakpoint: EXPLICIT }] }
      : message,
  )
}

interface Usage {
  prompt_tokens?: unknown
  completion_tokens?: unknown
  prompt_tokens_details?: { cached_tokens?: unknown } | null
}

interface Words {
  content?: unknown
  refusal?: unknown
}

interface Completion {
  choices?: ({ message?: Words; delta?: Words; finish_reason?: unknown } | null)[]
  usage?: Usage | null
  error?: unknown
}

function toOutcome(answer: unknown): ModelOutcome {
  const { choices, usage, error } = toCompletion(answer)
  const choice = choices?.[0] ?? undefined
  if (error || choice?.finish_reason === 'error') throw brokeOff(error)
  if (choice === undefined) throw notUnderstood()
  const content = textOf(choice.message?.content)
  const refusal = content.trim() === '' ? textOf(choice.message?.refusal) : ''
  return { text: refusal || content, finish: refusal ? 'filtered' : toFinish(choice.finish_reason), usage: toUsage(usage) }
}

/** Reads a stream. It is complete after `[DONE]`, or if it ends cleanly after a `finish_reason`. */
async function readStream(
  name: string,
  response: IncomingMessage,
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<ModelReply> {
  const text = new GrowingText()
  let finish: Finish | undefined
  let usage: ModelUsage | null = null
  let isDone = false
  let said = ''
  const { feed } = createParser({
    onEvent({ data }) {
      if (data === '[DONE]') isDone = true
      if (isDone) return
      const chunk = toCompletion(parseJson(data))
      const choice = chunk.choices?.[0] ?? undefined
      if (chunk.error || choice?.finish_reason === 'error') throw brokeOff(data)
      if (chunk.usage) usage = toUsage(chunk.usage)
      if (choice === undefined) return
      const refusal = textOf(choice.delta?.refusal)
      said += textOf(choice.delta?.content) + refusal
      if (refusal !== '') finish = 'filtered'
      if (choice.finish_reason) finish ??= toFinish(choice.finish_reason)
    },
  })
  /** Reports the text of a chunk in one call, even if parsing fails. An empty text is a sign of life, too. */
  const hear = (words: string) => {
    said = ''
    try {
      feed(words)
    } finally {
      text.add(said)
      onText(said)
    }
  }
  const decoder = new StringDecoder('utf8')
  const take = (chunk: Buffer) => {
    hear(decoder.write(chunk))
    return isDone
  }
  await readBody(response, signal, take, { pieces: 'events' })
  if (!isDone) await inTurn(response, () => hear('\n\n')) // some servers end with the last line
  if (!isDone && finish === undefined) throw endedEarly()
  return toReply(name, { text: text.toString(), finish: finish ?? 'stop', usage })
}

function toCompletion(value: unknown): Completion {
  const isCompletion = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isCompletion || !Array.isArray((value as Completion).choices ?? [])) throw notUnderstood()
  return value
}

/** Some providers send text in parts. Parts without text are the model's reasoning. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: { text?: unknown } | null) => (typeof part?.text === 'string' ? part.text : '')).join('')
}

const finishes: Record<string, Finish> = {
  length: 'length',
  model_length: 'length',
  max_tokens: 'length',
  content_filter: 'filtered',
}
const toFinish = (reason: unknown): Finish => (typeof reason === 'string' ? own(finishes, reason) : undefined) ?? 'stop'

const toUsage = (usage: Usage | null | undefined): ModelUsage | null =>
  usage
    ? {
        tokensIn: count(usage.prompt_tokens),
        tokensOut: count(usage.completion_tokens),
        tokensCached: count(usage.prompt_tokens_details?.cached_tokens),
      }
    : null
