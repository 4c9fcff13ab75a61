// A question finds passages that say the same in other words.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { analyse, type Language } from '../../src/text/analyse.ts'
import { synonymsIn } from '../../src/text/thesaurus.ts'
import { isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { startService } from '../support/service.ts'

const FOLDER = new URL('../../thesaurus/', import.meta.url)
const TERM = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}'’/+&.-]*(?: [\p{L}\p{M}\p{N}'’/+&.-]+){0,3}$/u

describe('the files of the thesaurus', () => {
  for (const name of readdirSync(FOLDER)) {
    test(`${name} has groups of 2 to 7 terms in lower case, and no term in more than three`, () => {
      const language = name.slice(0, 2)
      const groups = new Set<string>()
      const uses = new Map<string, number>()
      for (const [i, line] of readFileSync(new URL(name, FOLDER), 'utf8').trimEnd().split('\n').entries()) {
        if (line.startsWith('# ')) continue
        const terms = line.split(', ')
        assert.ok(terms.length >= 2 && terms.length <= 7, `line ${i + 1}: ${line}`)
        for (const term of terms) {
          assert.match(term, TERM, `line ${i + 1}`)
          assert.equal(term, term.toLocaleLowerCase(language), `line ${i + 1}`)
          uses.set(term, (uses.get(term) ?? 0) + 1)
        }
        const group = terms.toSorted().join()
        assert.ok(!groups.has(group), `line ${i + 1} is there twice: ${line}`)
        groups.add(group)
      }
      assert.ok(groups.size > 500)
      assert.deepEqual(
        [...uses].filter(([, count]) => count > 3),
        [],
      )
    })
  }
})

describe('synonyms of a question', () => {
  const found = (question: string, language: Language) =>
    synonymsIn(analyse(question, language).tokens, language).map(({ stems, alternatives }) => [
      stems.join(' '),
      alternatives.map((words) => words.join(' ')),
    ])

  test('are those of words in any inflection, and of phrases', () => {
    const [[stems, alternatives]] = found('refunds', 'en') as [[string, string[]]]
    assert.equal(stems, 'refund')
    assert.ok(alternatives.includes('reimburs'), alternatives.join())
    assert.ok(found('I want to get rid of it', 'en').some(([, words]) => words!.includes('delet')))
    assert.ok(found('gekündigt', 'de').length + found('kündigungen', 'de').length > 0)
  })

  test('are none in a language without a thesaurus, and none of a long question', () => {
    assert.deepEqual(found('refund', 'fi'), [])
    assert.deepEqual(found(`refund ${'word '.repeat(70)}`, 'en'), [])
  })
})

describe('search', async () => {
  const service = await startService()
  const { client } = service
  after(() => service.stop())

  async function search(texts: string[], query: string): Promise<string[]> {
    const agent = `/agents/${await service.newAgent()}`
    for (const text of texts) isOk(await client.post(`${agent}/documents`, { text }), 202)
    await until(
      'all are indexed',
      async () => (await client.get(`${agent}/documents?status=ready`)).body.pagination.total === texts.length,
    )
    const answer = await client.post(`${agent}/search`, { query })
    isOk(answer)
    return answer.body.hits.map(({ text }: { text: string }) => text)
  }
  const OTHERS = ['The lamps are lit at dusk.', 'A gull sat upon the harbour wall.', 'The kitchen closes at nine in the evening.']

  test('finds a passage that shares no word with the question', async () => {
    const paid = 'Paychecks are deposited on the 25th.'
    assert.equal((await search([...OTHERS, paid], 'When do I receive my salary?'))[0], paid)
    const geld = 'Die Vergütung wird am 25. überwiesen.'
    assert.equal(
      (await search(['Die Lampen brennen nachts.', 'Die Küche schließt um neun.', geld], 'Wann kommt mein Gehalt?'))[0],
      geld,
    )
  })

  test('prefers the word of the question to its synonyms', async () => {
    const [same, other] = ['The salary is handed out at noon.', 'The paycheck is handed out at dusk.']
    assert.equal((await search([...OTHERS, other, same], 'When is the salary handed out?'))[0], same)
  })
})
