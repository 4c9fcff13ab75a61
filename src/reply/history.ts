import type { HistoryEntry } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import { bytesOfTokens, estimateTokens, tokensOfBytes } from '../core/tokens.ts'
import { listRecent, type RecentMessage } from '../store/tables/messages.ts'
import type { ReplyDeps } from './deps.ts'

/** Messages that stay in the prompt word by word; the rest goes in steps, so that a prompt begins as the one before and is cached. */
export const NEWEST = 20
export const STEP = 10

/** What a prompt says of the conversation so far. */
export interface Past {
  /** What the messages before these come down to; empty where nothing was left out. */
  summary: string
  /** The place that the summary reaches to, 0 for none. */
  upto: number
  /** Oldest first. */
  messages: RecentMessage[]
}

/** The newest messages of a session up to a place, and the summary of what stands before them. Costs the same however long the session is. */
export async function readPast(deps: ReplyDeps, session: Session, last: number): Promise<Past> {
  const { agentId, id } = session
  if (last === 0) return { summary: '', upto: 0, messages: [] }
  const { summary, messages } = await listRecent(deps.db, agentId, id, firstOf(last), bytesOfTokens(deps.limits.historyTokens))
  const upto = summary === undefined || summary.upto > last ? 0 : summary.upto
  return { summary: upto === 0 ? '' : summary!.text, upto, messages: messages.filter((m) => m.seq > upto && m.seq <= last) }
}

/** The place of the first message in a prompt: between NEWEST and NEWEST + STEP stay. */
const firstOf = (last: number): number => (last < NEWEST + STEP ? 1 : Math.floor((last - NEWEST) / STEP) * STEP + 1)

/** The newest messages that fit a budget. */
export function withinBudget<M extends Pick<HistoryEntry, 'content' | 'bytes'>>(messages: M[], tokens: number): M[] {
  let room = tokens
  const last = messages.findLastIndex(({ content, bytes }) => {
    room -= bytes === undefined ? estimateTokens(content) : tokensOfBytes(bytes)
    return room < 0
  })
  return messages.slice(last + 1)
}
