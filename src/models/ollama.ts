import type { IncomingMessage } from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import type { ChatModel, ModelCall, ModelRequest } from '../core/ports/model.ts'
import type { Clock } from '../core/ports/ports.ts'
import { promptTokens } from '../core/tokens.ts'
import { headersOf, type Provider } from './provider.ts'
import { brokeOff, endedEarly, failed, notUnderstood } from './transport/failure.ts'
import { GrowingText } from './transport/growing-text.ts'
import { below, inTurn, parseJson, readBody, send } from './transport/http.ts'
import { count, type ModelOutcome, toReply } from './transport/reply.ts'

/** Room for a reply without a configured limit. */
const OUTPUT_TOKENS = 2_048
const LEAST_CONTEXT_TOKENS = 8_192
/** Default, unless the provider sets another maximum. */
const MAX_CONTEXT_TOKENS = 32_768
/** The window shrinks if no call needed its size for this long. */
const KEEP_CONTEXT_MS = 600_000

/**
 * A model with Ollama's own protocol (https://docs.ollama.com/api/chat). Its OpenAI-compatible protocol cannot set the context window,
 * and Ollama silently truncates a prompt that is longer than the window.
 */
export function ollamaModel(name: string, provider: Provider, clock: Clock = Date.now): ChatModel {
  const url = below(provider.baseUrl, '/api/chat')
  const headers = headersOf(provider)
  const { maxContextTokens = MAX_CONTEXT_TOKENS } = provider
  const needed = new RecentMax(KEEP_CONTEXT_MS, clock)
  return {
    async generate(request, { signal, onText, keyId }) {
      // Ollama reloads the model at every change of the window, so the window does not follow each call.
      const context = needed.add(contextFor(request, maxContextTokens))
      const body = JSON.stringify(toBody(name, request, context, onText !== undefined))
      const owner = { agentId: request.grounding.agentId, keyId }
      const response = await send(url, { headers, body, signal, owner })
      return toReply(name, await readLines(response, signal, onText))
    },
  }
}

/**
 * Returns the context window for the prompt and its reply in tokens: 8,192, doubled as often as necessary, at most `most`.
 * Throws `model_failed` if the prompt and a usual reply do not fit, because Ollama silently truncates.
 */
export function contextFor({ prompt, maxOutputTokens }: Pick<ModelRequest, 'prompt' | 'maxOutputTokens'>, most: number): number {
  const promptSize = promptTokens(prompt)
  const replySize = maxOutputTokens ?? OUTPUT_TOKENS
  if (promptSize + Math.min(replySize, OUTPUT_TOKENS) > most) throw failed('the prompt does not fit into its context window')
  let context = LEAST_CONTEXT_TOKENS
  while (context < promptSize + replySize && context < most) context *= 2
  return Math.min(context, most)
}

/** The maximum of the numbers added in the last `keepMs`. There are few different numbers. */
class RecentMax {
  readonly #addedAt = new Map<number, number>()
  readonly #keepMs: number
  readonly #clock: Clock

  constructor(keepMs: number, clock: Clock) {
    this.#keepMs = keepMs
    this.#clock = clock
  }

  add(number: number): number {
    const now = this.#clock()
    this.#addedAt.set(number, now)
    for (const [other, at] of this.#addedAt) if (now - at >= this.#keepMs) this.#addedAt.delete(other)
    return Math.max(...this.#addedAt.keys())
  }
}

const toBody = (
  model: string,
  { prompt, temperature, maxOutputTokens, json }: ModelRequest,
  context: number,
  stream: boolean,
) => ({
  model,
  messages: prompt,
  stream,
  ...(json ? { format: json.schema } : {}),
  options: {
    num_ctx: context,
    ...(temperature === null ? {} : { temperature }),
    ...(maxOutputTokens === null ? {} : { num_predict: maxOutputTokens }),
  },
})

interface Line {
  message?: { content?: unknown }
  done?: unknown
  done_reason?: unknown
  error?: unknown
  prompt_eval_count?: unknown
  eval_count?: unknown
}

/** Reads one JSON object per line. A reply that is not streamed is a single line. */
async function readLines(response: IncomingMessage, signal: AbortSignal, onText: ModelCall['onText']): Promise<ModelOutcome> {
  const text = new GrowingText()
  let last: Line | undefined
  const take = (line: string) => {
    if (line.trim() === '' || last !== undefined) return
    const value = parseJson(line)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notUnderstood()
    const { message, done, error } = value as Line
    if (error) throw brokeOff(line)
    const piece = typeof message?.content === 'string' ? message.content : ''
    text.add(piece)
    if (piece !== '') onText?.(piece)
    if (done === true) last = value
  }
  const decoder = new StringDecoder('utf8')
  // Parts are joined once per line: repeated joins of a very long line would take quadratic time.
  let begun: string[] = []
  const takeChunk = (chunk: Buffer) => {
    const [first, ...more] = decoder.write(chunk).split('\n')
    begun.push(first!)
    const before = text.length
    for (const next of more) {
      take(begun.join(''))
      begun = [next]
    }
    if (text.length === before) onText?.('')
    return last !== undefined
  }
  await readBody(response, signal, takeChunk, { pieces: 'lines' })
  if (last === undefined) await inTurn(response, () => take(begun.join('')))
  if (last === undefined) throw endedEarly()
  const usage = { tokensIn: count(last.prompt_eval_count), tokensOut: count(last.eval_count), tokensCached: 0 }
  return { text: text.toString(), finish: last.done_reason === 'length' ? 'length' : 'stop', usage }
}
