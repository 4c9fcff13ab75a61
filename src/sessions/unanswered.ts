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
/** Groups that a question is compared with. Hardly any question has so many that may be alike. */
const MOST_COMPARED = 200

interface Group extends UnansweredQuestion {
  stems: Set<string>
  /** In the order in which they were made. */
  number: number
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
    const made = { question, count: 1, lastAskedAt: askedAt, sessionIds: [sessionId], stems, number: this.#groups.length }
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
      .map(({ stems: _, number: __, ...group }) => group)
  }

  /** Looks at the groups of the rarest stems first. What is alike has one of those, and few groups do. */
  #find(stems: ReadonlySet<string>): Group | undefined {
    const lists = [...stems].map((stem) => this.#byStem.get(stem) ?? []).sort((a, b) => a.length - b.length)
    // Of several that are equally alike, the last one by the first stem that they share.
    const placeOf = ({ stems: held, number }: Group) => [...stems].findIndex((stem) => held.has(stem)) * MAX_GROUPS + number
    const compared = new Set<Group>()
    let best: Group | undefined
    let bestLikeness = ALIKE
    for (const [at, groups] of lists.entries()) {
      // A group that was in no list before shares no more than the rest.
      const rest = stems.size - at
      if (rest / stems.size < bestLikeness) return best
      for (const group of groups) {
        if (likenessOf(stems, group.stems, Math.min(rest, group.stems.size)) < bestLikeness || compared.has(group)) continue
        if (compared.size === MOST_COMPARED) return best
        compared.add(group)
        const likeness = likenessOf(stems, group.stems, stems.intersection(group.stems).size)
        const isTie = likeness === bestLikeness && best !== undefined
        if (likeness < bestLikeness || (isTie && placeOf(group) < placeOf(best!))) continue
        best = group
        bestLikeness = likeness
      }
    }
    return best
  }
}

const likenessOf = (a: ReadonlySet<string>, b: ReadonlySet<string>, shared: number): number => shared / (a.size + b.size - shared)

function join(group: Group, question: string, askedAt: number, sessionId: string): void {
  group.count++
  if (!group.sessionIds.includes(sessionId) && group.sessionIds.length < MAX_SESSIONS) group.sessionIds.push(sessionId)
  if (askedAt < group.lastAskedAt) return
  group.lastAskedAt = askedAt
  group.question = question
}
