import type { ChatModel, ModelReply, ModelRequest } from '../core/model.ts'
import { failed, postJson } from './post-json.ts'

export interface OpenAiEndpoint {
  /** For example `https://api.openai.com/v1`. */
  baseUrl: string
  apiKey: string | undefined
  timeoutMs: number
}

/** A reply of more is no reply. */
const MAX_REPLY_BYTES = 4_194_304

/** A model spoken to by the OpenAI chat-completions protocol (https://platform.openai.com/docs/api-reference/chat). */
export function openAiModel(name: string, { baseUrl, apiKey, timeoutMs }: OpenAiEndpoint): ChatModel {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/chat/completions`)
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  return {
    async generate(request, signal) {
      const answer = await postJson(url, toBody(name, request), { headers, timeoutMs, maxBytes: MAX_REPLY_BYTES, signal })
      return toReply(name, answer)
    },
  }
}

const toBody = (model: string, { prompt, temperature, maxOutputTokens }: ModelRequest) => ({
  model,
  messages: prompt,
  ...(temperature === null ? {} : { temperature }),
  ...(maxOutputTokens === null ? {} : { max_completion_tokens: maxOutputTokens }),
})

interface Completion {
  model?: unknown
  choices?: { message?: { content?: unknown; refusal?: unknown } }[]
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown; prompt_tokens_details?: { cached_tokens?: unknown } }
}

function toReply(name: string, answer: unknown): ModelReply {
  const { choices, usage } = (answer ?? {}) as Completion
  const message = Array.isArray(choices) ? choices[0]?.message : undefined
  const text = [message?.content, message?.refusal].find((t): t is string => typeof t === 'string' && t.trim() !== '')
  if (text === undefined) throw failed('the provider sent no text')
  const count = (n: unknown) => (typeof n === 'number' && Number.isFinite(n) ? Math.trunc(n) : 0)
  return {
    text,
    model: name,
    usage:
      (usage && {
        tokensIn: count(usage.prompt_tokens),
        tokensOut: count(usage.completion_tokens),
        tokensCached: count(usage.prompt_tokens_details?.cached_tokens),
      }) ||
      null,
  }
}
