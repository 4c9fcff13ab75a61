import type { UnansweredQuestion } from '../core/insights.ts'
import { analyse, contentStems } from '../text/analyse.ts'

/** Questions that share so much of their words, in either's eyes, are one. */
const ALIKE = 0.6
const MAX_SESSIONS = 20
/** Only the beginning of a question is compared with others. */
const MAX_CHARS = 500
const MAX_STEMS = 50
/** Kinds of questions that are told apart; further ones are counted with none. */
const MAX_GROUPS = 2_000

interface Group extends UnansweredQuestion {
  stems: Set<string>
}

/** Puts questions that ask for the same in other words of the same stems together. */
export class UnansweredQuestions {
  readonly #groups: Group[] = []
  readonly #byStem = new Map<string, Group[]>()

  add(question: string, askedAt: number, sessionId: string): void {
    const stems = new Set(contentStems(analyse(question.slice(0, MAX_CHARS))).slice(0, MAX_STEMS))
    const group = this.#find(stems)
    if (group !== undefined) {
      join(group, question, askedAt, sessionId)
      return
    }
    if (this.#groups.length >= MAX_GROUPS) return
    const made = { question, count: 1, lastAskedAt: askedAt, sessionIds: [sessionId], stems }
    this.#groups.push(made)
    for (const stem of stems) {
      const groups = this.#byStem.get(stem)
      if (groups === undefined) this.#byStem.set(stem, [made])
      else groups.push(made)
    }
  }

  /** Most frequent first, then latest. */
  list(most: number): UnansweredQuestion[] {
    return this.#groups
      .toSorted((a, b) => b.count - a.count || b.lastAskedAt - a.lastAskedAt)
      .slice(0, most)
      .map(({ stems: _, ...group }) => group)
  }

  #find(stems: Set<string>): Group | undefined {
    const shared = new Map<Group, number>()
    for (const stem of stems) for (const group of this.#byStem.get(stem) ?? []) shared.set(group, (shared.get(group) ?? 0) + 1)
    let best: Group | undefined
    let bestLikeness = ALIKE
    for (const [group, count] of shared) {
      const likeness = count / (stems.size + group.stems.size - count)
      if (likeness >= bestLikeness) {
        best = group
        bestLikeness = likeness
      }
    }
    return best
  }
}

function join(group: Group, question: string, askedAt: number, sessionId: string): void {
  group.count++
  if (!group.sessionIds.includes(sessionId) && group.sessionIds.length < MAX_SESSIONS) group.sessionIds.push(sessionId)
  if (askedAt < group.lastAskedAt) return
  group.lastAskedAt = askedAt
  group.question = question
}
