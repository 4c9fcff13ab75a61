import type { UnansweredQuestion } from '../core/insights.ts'
import { analyse, contentStems } from '../text/analyse.ts'

/** Questions are grouped if they share this part of their words, relative to either one. */
const ALIKE = 0.6
const MAX_SESSIONS = 20
/** Only the beginning of a question is compared with others. */
const MAX_CHARS = 500
const MAX_STEMS = 50
/** The most groups of questions. Further questions are not counted. */
const MAX_GROUPS = 2_000
/** The most groups that a question is compared with. Few questions have so many candidates. */
const MOST_COMPARED = 200

interface Group extends UnansweredQuestion {
  stems: Set<string>
  /** The number in order of creation. */
  number: number
}

/** Groups questions with the same word stems. */
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

  /** Returns the groups, most frequent first, then latest. */
  list(most: number): UnansweredQuestion[] {
    return this.#groups
      .toSorted((a, b) => b.count - a.count || b.lastAskedAt - a.lastAskedAt)
      .slice(0, most)
      .map(({ stems: _, number: __, ...group }) => group)
  }

  /** Checks the groups of the rarest stems first: few groups have them, and a similar group has one. */
  #find(stems: ReadonlySet<string>): Group | undefined {
    const lists = [...stems].map((stem) => this.#byStem.get(stem) ?? []).sort((a, b) => a.length - b.length)
    // Breaks ties: the group whose first shared stem comes last in the question, then the newest one.
    const placeOf = ({ stems: held, number }: Group) => [...stems].findIndex((stem) => held.has(stem)) * MAX_GROUPS + number
    const compared = new Set<Group>()
    let best: Group | undefined
    let bestLikeness = ALIKE
    for (const [at, groups] of lists.entries()) {
      // A group that was in no earlier list shares at most the remaining stems.
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
