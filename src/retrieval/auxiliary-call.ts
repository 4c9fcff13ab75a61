import { callModel, type Payer } from '../access/budgets.ts'
import type { Agent } from '../core/agent.ts'
import { EXTRACTIVE, type PromptMessage } from '../core/ports/model.ts'
import { nothingFound } from '../core/ports/retrieval.ts'
import { cleanText } from '../core/text.ts'
import type { RetrievalDeps } from './deps.ts'
import { tagged } from './tagged.ts'

export const hasLanguageModel = (agent: Agent): boolean => agent.model !== EXTRACTIVE

export interface AuxiliaryCall {
  prompt: PromptMessage[]
  maxOutputTokens: number
  json?: { name: string; schema: object }
  /** Aborts the call. */
  signal?: AbortSignal
}

/** Calls the agent's model once, with a short timeout, for something that accompanies a reply. Rejects if the call fails. */
export async function askAuxiliaryModel(deps: RetrievalDeps, payer: Payer, call: AuxiliaryCall): Promise<string> {
  const { prompt, maxOutputTokens, json, signal } = call
  const { agent } = payer
  const late = AbortSignal.timeout(deps.limits.sideCallTimeoutMs)
  const { text } = await callModel(
    deps,
    payer,
    agent.model,
    {
      prompt,
      temperature: null,
      maxOutputTokens,
      ...(json === undefined ? {} : { json }),
      grounding: { agentId: agent.id, question: '', history: [], retrieval: nothingFound, minScore: null },
    },
    { signal: signal === undefined ? late : AbortSignal.any([signal, late]) },
  )
  return cleanText(text)
}

/** Expected replies take a few thousand characters. A model may send as much as a reply allows, and parsing takes long. */
const MAX_JSON_CHARS = 20_000

/** Returns the value of a JSON text, even within a code block. Throws if there is none, or the text is far too long. */
export function parseJsonReply(text: string): unknown {
  if (text.length > MAX_JSON_CHARS) throw new Error('the model sent too much')
  const start = text.search(/[[{]/)
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'))
  return JSON.parse(text.slice(start, end + 1))
}

/** Returns messages, each cut to `maxChars`, as a transcript for a model to read and not to continue. */
export const transcript = (messages: { role: string; content: string }[], maxChars: number): string =>
  tagged(
    'conversation',
    messages.map(({ role, content }) => `${role === 'AI' ? 'Agent' : 'User'}: ${content.slice(0, maxChars)}`).join('\n'),
  )
