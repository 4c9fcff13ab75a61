import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { phrasesIn, withoutOwnWords } from '../../src/core/phrases.ts'
import { toQuestion } from '../../src/knowledge/query/question.ts'
import { openLantern } from '../support/lantern.ts'

describe('what was said before', () => {
  test('counts without what the service said in words of its own', () => {
    for (const language of ['en', 'de', 'tr', 'ja']) {
      const { dontKnow, hello, closest, from } = phrasesIn(language)
      for (const reply of [dontKnow, hello, `${closest.replace('%', 'Lamps')} [1]:\n\nLamps are red.`])
        assert.equal(withoutOwnWords(reply), '', reply)
      assert.equal(withoutOwnWords(`Red. [1]\n\n${from.replace('%', 'Bells')}:\n\nBlue. [2]`), 'Red. [1]\n\n\nBlue. [2]')
    }
    assert.equal(withoutOwnWords('From the beginning: lamps.'), 'From the beginning: lamps.')
  })

  test('counts for a question that goes on with it, however surely the rest of it is found', async () => {
    for (const question of [
      'and a key?',
      'What about a key?',
      'und ein Schlüssel?',
      'et une clé ?',
      '¿y una llave?',
      'じゃあ鍵は？',
    ])
      assert.ok(toQuestion(question, [], ['en']).goesOn, question)
    for (const question of ['Is there a key and a lock?', 'android key', 'What is a key?'])
      assert.ok(!toQuestion(question, [], ['en']).goesOn, question)
    const lantern = await openLantern()
    const history = [
      { role: 'USER' as const, content: 'How do I restore a backup?' },
      { role: 'AI' as const, content: '1. Stop the server with `lantern stop`. [1]' },
    ]
    const alone = await lantern.ask('Team plan cost', history)
    assert.equal(alone.retrieval.standsAlone, true)
    assert.equal((await lantern.ask('and the Team plan cost', history)).retrieval.standsAlone, false)
    await lantern.close()
  })
})
