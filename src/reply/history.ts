import type { HistoryEntry } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import { bytesOfTokens, estimateTokens, tokensOfBytes } from '../core/tokens.ts'
import { listRecent, type RecentMessage } from '../store/tables/messages.ts'
import type { ReplyDeps } from './deps.ts'

/** Messages that stay verbatim in the prompt. Older ones are removed in steps, so that prompts keep the same beginning and hit the provider's cache. */
export const NEWEST = 20
export const STEP = 10

/** The conversation so far, as a prompt contains it. */
export interface Past {
  /** The summary of earlier messages; empty if nothing was left out. */
  summary: string
  /** The position up to which the summary reaches; 0 without a summary. */
  upto: number
  /** Oldest first. */
  messages: RecentMessage[]
}

/** Resolves to the newest messages of a session up to a position, and the summary of earlier ones. The cost does not depend on the session's length. */
export async function readPast(deps: ReplyDeps, session: Session, last: number): Promise<Past> {
  const { agentId, id } = session
  if (last === 0) return { summary: '', upto: 0, messages: [] }
  const { summary, messages } = await listRecent(deps.db, agentId, id, firstOf(last), bytesOfTokens(deps.limits.historyTokens))
  const upto = summary === undefined || summary.upto > last ? 0 : summary.upto
  return { summary: upto === 0 ? '' : summary!.text, upto, messages: messages.filter((m) => m.seq > upto && m.seq <= last) }
}

/** Returns the position of the first message in a prompt. NEWEST to NEWEST + STEP messages stay. */
const firstOf = (last: number): number => (last < NEWEST + STEP ? 1 : Math.floor((last - NEWEST) / STEP) * STEP + 1)

/** Returns the newest messages that fit into a token budget. */
export function withinBudget<M extends Pick<HistoryEntry, 'content' | 'bytes'>>(messages: M[], tokens: number): M[] {
  let room = tokens
  const last = messages.findLastIndex(({ content, bytes }) => {
    room -= bytes === undefined ? estimateTokens(content) : tokensOfBytes(bytes)
    return room < 0
  })
  return messages.slice(last + 1)
}
