import type { IncomingMessage } from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { ReparteeError } from '../core/errors.ts'
import type { ChatModel, Finish, ModelCall, ModelReply, ModelRequest, ModelUsage, PromptMessage } from '../core/model.ts'
import { brokeOff, endedEarly, notUnderstood, Refusal } from './failure.ts'
import { below, isJson, parseJson, readBody, readJson, send } from './http.ts'
import { headersOf, type Provider } from './provider.ts'
import { count, type Outcome, toReply } from './reply.ts'

/** A model spoken to by the OpenAI chat-completions protocol (https://platform.openai.com/docs/api-reference/chat). */
export function chatCompletionsModel(name: string, provider: Provider): ChatModel {
  const url = below(provider.baseUrl, '/chat/completions')
  const headers = headersOf(provider)
  const dialect = openDialect(provider, name)
  const ask = async (request: ModelRequest, { signal, onText }: ModelCall): Promise<IncomingMessage> => {
    for (;;) {
      try {
        return await send(url, { headers, body: JSON.stringify(dialect.toBody(request, onText !== undefined)), signal })
      } catch (error) {
        if (!dialect.learn(error)) throw error
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
 * The fields that servers of this protocol differ in. OpenAI's newest models want `max_completion_tokens`, most others know only
 * `max_tokens`; older servers refuse `stream_options` or `response_format`. A refusal that names such a field is learnt from.
 */
function openDialect({ name }: Provider, model: string) {
  let limit = name === 'openai' ? 'max_completion_tokens' : 'max_tokens'
  const known = new Set(['stream_options', 'response_format'])
  if (name === 'openai' && CACHES_AT_MARKS.test(model)) known.add('prompt_cache')
  let mayTurn = true
  return {
    toBody: ({ prompt, temperature, maxOutputTokens, json }: ModelRequest, stream: boolean) => ({
      model,
      messages: known.has('prompt_cache') ? withCacheMarks(prompt) : prompt,
      ...(known.has('prompt_cache') ? { prompt_cache_options: EXPLICIT } : {}),
      ...(temperature === null ? {} : { temperature }),
      ...(maxOutputTokens === null ? {} : { [limit]: maxOutputTokens }),
      ...(json && known.has('response_format')
        ? { response_format: { type: 'json_schema', json_schema: { ...json, strict: true } } }
        : {}),
      ...(stream ? { stream } : {}),
      ...(stream && known.has('stream_options') ? { stream_options: { include_usage: true } } : {}),
    }),
    /** Whether the call is worth sending again, in other words. */
    learn(error: unknown): boolean {
      const cause = error instanceof ReparteeError ? error.cause : undefined
      if (!(cause instanceof Refusal) || (cause.status !== 400 && cause.status !== 422)) return false
      if (mayTurn && cause.message.includes(limit)) {
        limit = limit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
        mayTurn = false
        return true
      }
      return [...known].some((field) => cause.message.includes(field) && known.delete(field))
    },
  }
}

/**
 * From 5.6 on. They write to their cache, at a quarter more than the price, what ends at a mark, and find there only what ended at one. Left
 * to itself the mark is at the end of the newest message, whose passages never come again.
 */
const CACHES_AT_MARKS = /^gpt-(?:5\.(?:[6-9]|\d\d)|[6-9]|\d\d)/
const EXPLICIT = { mode: 'explicit' }

/** With marks behind the instructions and behind the two newest messages of the user that came before: the earlier is found, the later kept for the next. */
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

function toOutcome(answer: unknown): Outcome {
  const { choices, usage, error } = toCompletion(answer)
  const choice = choices?.[0] ?? undefined
  if (error || choice?.finish_reason === 'error') throw brokeOff(JSON.stringify(error))
  if (choice === undefined) throw notUnderstood()
  const content = textOf(choice.message?.content)
  const refusal = content.trim() === '' ? textOf(choice.message?.refusal) : ''
  return { text: refusal || content, finish: refusal ? 'filtered' : toFinish(choice.finish_reason), usage: toUsage(usage) }
}

/** A text that grows by a few letters at a time, and is not put together now and then, takes many times its size. */
const MOST_PARTS = 100

/** The end has arrived with `[DONE]`, or with a clean end of the stream behind a `finish_reason`. */
async function readStream(
  name: string,
  response: IncomingMessage,
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<ModelReply> {
  let parts: string[] = []
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
  /** What came at once is handed on at once, also where it ends in a failure; no text is a sign of life, too. */
  const hear = (words: string) => {
    said = ''
    try {
      feed(words)
    } finally {
      if (said !== '' && parts.push(said) > MOST_PARTS) parts = [parts.join('')]
      onText(said)
    }
  }
  const decoder = new StringDecoder('utf8')
  await readBody(response, signal, (chunk) => {
    hear(decoder.write(chunk))
    return isDone
  })
  if (!isDone) hear('\n\n') // some servers end with the last line
  if (!isDone && finish === undefined) throw endedEarly()
  return toReply(name, { text: parts.join(''), finish: finish ?? 'stop', usage })
}

function toCompletion(value: unknown): Completion {
  const isCompletion = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isCompletion || !Array.isArray((value as Completion).choices ?? [])) throw notUnderstood()
  return value
}

/** Some providers send text in parts, of which those that are not text are the model's thoughts. */
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
const toFinish = (reason: unknown): Finish => finishes[String(reason)] ?? 'stop'

const toUsage = (usage: Usage | null | undefined): ModelUsage | null =>
  usage
    ? {
        tokensIn: count(usage.prompt_tokens),
        tokensOut: count(usage.completion_tokens),
        tokensCached: count(usage.prompt_tokens_details?.cached_tokens),
      }
    : null
