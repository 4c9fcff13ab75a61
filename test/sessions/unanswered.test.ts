// Unanswered questions are put together by the words that they share.
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { UnansweredQuestions } from '../../src/sessions/unanswered.ts'
import { analyse, contentStems } from '../../src/text/analyse.ts'

/** Numbered words that are no words. */
const word = (n: number): string => Array.from({ length: 4 }, (_, i) => 'bcdfghjklmnpqrst'[(n >> (4 * i)) % 16]).join('')
const words = (count: number, from: number): string[] => Array.from({ length: count }, (_, i) => word(from + i))
const ask = (asked: readonly string[]) => {
  const questions = new UnansweredQuestions()
  for (const [at, question] of asked.entries()) questions.add(question, at, `session ${at}`)
  return questions
}

test('each question joins a group exactly if one shares 0.6 of its words and of those of both', () => {
  let seed = 1
  const random = (most: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return (seed >> 8) % most
  }
  const asked = Array.from({ length: 400 }, () =>
    words(2 + random(6), 0)
      .map(() => word(random(12)))
      .join(' '),
  )
  const groups: Set<string>[] = []
  for (const question of asked) {
    const stems = new Set(contentStems(analyse(question)))
    if (!groups.some((group) => stems.intersection(group).size / stems.union(group).size >= 0.6)) groups.push(stems)
  }
  const listed = ask(asked).list(asked.length)
  assert.ok(groups.length > 50 && groups.length < 350, `${groups.length} groups`)
  assert.equal(listed.length, groups.length)
  assert.equal(
    listed.reduce((sum, { count }) => sum + count, 0),
    asked.length,
  )
})

test('a question goes to the group that it is most like, of several the last by the first word that they share', () => {
  const [a, b, c, d, e] = words(5, 100) as [string, string, string, string, string]
  const countsOf = (...asked: string[]) =>
    ask(asked)
      .list(9)
      .map(({ question, count }) => `${question}: ${count}`)
  assert.deepEqual(countsOf(`${a} ${b} ${c}`, `${b} ${c} ${d} ${e}`, `${d} ${c} ${b} ${a}`), [
    `${d} ${c} ${b} ${a}: 2`,
    `${b} ${c} ${d} ${e}: 1`,
  ])
  assert.deepEqual(countsOf(`${a} ${b}`, `${b} ${c}`, `${a} ${b} ${c}`), [`${a} ${b} ${c}: 2`, `${a} ${b}: 1`])
})

test('a question that shares half of its words with many groups is compared with none of them', () => {
  const shared = words(36, 0)
  const questions = ask(Array.from({ length: 300 }, (_, at) => [...shared, ...words(14, 1_000 + 14 * at)].join(' ')))
  const steps = [
    mock.method(Map.prototype, 'get'),
    mock.method(Map.prototype, 'set'),
    mock.method(Set.prototype, 'has'),
    mock.method(Set.prototype, 'intersection'),
  ]
  try {
    questions.add([...shared, ...words(14, 60_000)].join(' '), 300, 'session')
  } finally {
    for (const step of steps) step.mock.restore()
  }
  const count = steps.reduce((sum, step) => sum + step.mock.callCount(), 0)
  assert.equal(questions.list(1_000).length, 301)
  assert.ok(count < 1_500, `${count} steps`)
})
