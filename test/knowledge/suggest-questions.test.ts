import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Hit, Retrieval } from '../../src/core/ports/retrieval.ts'
import { ANSWER_THRESHOLD } from '../../src/core/ports/retrieval.ts'
import { phraseQuestions } from '../../src/knowledge/answer/phrase-questions.ts'
import {
  Candidates,
  passagesToGoOn,
  type SuggestBase,
  suggestQuestions,
  Topic,
} from '../../src/knowledge/answer/suggest-questions.ts'
import { done } from '../../src/store/knowledge/work.ts'
import { type Lantern, openLantern } from '../support/lantern.ts'
import { finish, fixedStatistics } from '../support/work.ts'

const hitOf = (text: string, passageId = 'p'): Hit => ({
  documentId: 'd',
  passageId,
  title: '',
  heading: '',
  text,
  page: null,
  url: null,
  score: 1,
  scores: {},
})
const finds = (hit: Hit, confidence = 0.9): Retrieval => ({ query: '', standsAlone: true, hits: [hit], confidence })

const statistics = fixedStatistics(100, () => 1)

/** A base in which every question finds the same. */
const finding = (found: Retrieval, about = statistics): SuggestBase => ({
  statistics: about,
  atOnce: 1,
  ask: (queries) => done(queries.map(() => found)),
})

describe('questions to go on with', () => {
  let lantern: Lantern
  before(async () => {
    lantern = await openLantern()
  })
  after(() => lantern.close())

  test('can all be answered by the base that offers them', async () => {
    const asked = [
      'How do I install Lantern?',
      'What is a backup?',
      'How many requests can a key send?',
      'When do invoices arrive?',
      'Who leads the security team?',
    ]
    let offered = 0
    for (const question of asked) {
      for (const suggestion of await lantern.suggest([question])) {
        offered++
        const { extract } = await lantern.ask(suggestion.text)
        assert.ok(extract.confidence >= ANSWER_THRESHOLD, `${suggestion.text}: ${extract.confidence}`)
      }
    }
    assert.ok(offered >= 1, `only ${offered} offered`)
  })

  test('are not what was asked before, and not the same twice', () => {
    const hit = hitOf(
      '## How do I restore a backup?\n\nText.\n\n## Restoring a backup\n\nText.\n\n## Rotating keys\n\nText about keys.',
    )
    const suggest = (asked: string[]): string[] =>
      finish(
        suggestQuestions({ asked, retrieval: finds(hit), count: 5, filter: null }, finding(finds(hit)), new Candidates([hit])),
      ).map((suggestion) => suggestion.text)
    assert.deepEqual(suggest(['hello']), ['How do I restore a backup?', 'How do I rotate keys?'])
    assert.deepEqual(suggest(['How can I restore backups?']), ['How do I rotate keys?'])
  })

  test('are dropped where asking them finds another passage, or none surely enough', () => {
    const hit = hitOf('## How do I restore a backup?\n\nText.')
    const suggest = (found: Retrieval): number =>
      finish(
        suggestQuestions({ asked: [], retrieval: finds(hit), count: 3, filter: null }, finding(found), new Candidates([hit])),
      ).length
    assert.equal(suggest(finds(hit)), 1)
    assert.equal(suggest(finds(hitOf('Something else.', 'q'))), 0)
    assert.equal(suggest(finds(hit, ANSWER_THRESHOLD - 0.01)), 0)
    assert.equal(suggest({ query: '', standsAlone: true, hits: [], confidence: 0 }), 0)
  })

  test('are made of what was not quoted: sections of the same document, or passages that are nearly as good', () => {
    const of = (id: string, documentId: string, score: number): Hit => ({ ...hitOf('Text.', id), documentId, score })
    const extract = { quotes: [{ hit: 1, text: 'Text.', from: '', isAbrupt: false }], confidence: 0.9, found: 'answer' as const }
    const retrieval: Retrieval = {
      ...finds(of('a', 'x', 10)),
      hits: [of('a', 'x', 10), of('b', 'y', 9), of('c', 'z', 4), of('d', 'y', 2)],
      extract,
    }
    const made = (given: Retrieval, ...siblings: string[]) =>
      passagesToGoOn(
        given,
        siblings.map((id) => of(id, 'y', 0)),
      ).map(({ passageId }) => passageId)
    assert.deepEqual(made(retrieval, 'b', 'e', 'd'), ['e', 'd'])
    assert.deepEqual(made(retrieval, 'b'), ['a', 'd'])
    assert.deepEqual(made({ ...retrieval, hits: [] }), [])
    assert.deepEqual(made({ ...retrieval, extract: { ...extract, confidence: 0.4 } }, 'b', 'e'), [])
  })

  test('are about what was asked or quoted', () => {
    const hit = hitOf('## Rotate the key\n\n## Clean the wall\n\nA brush is used.')
    const suggest = (question: string, quoted = '', common = ''): string[] =>
      finish(
        suggestQuestions(
          { asked: [], retrieval: finds(hit), count: 3, filter: null },
          finding(
            finds(hit),
            fixedStatistics(100, (stem) => (stem === common ? 100 : 1)),
          ),
          new Candidates([hit], new Topic(question, [quoted])),
        ),
      ).map(({ text }) => text)
    assert.deepEqual(suggest('How thick is a wall?'), ['How do I clean the wall?'])
    assert.deepEqual(suggest('Where is the brush?', 'The brush is behind the wall.'), ['How do I clean the wall?'])
    assert.deepEqual(suggest('Where is the lamp?', 'The lamp is on the wall.'), [], 'the passage has no word of the question')
    assert.deepEqual(suggest('Is a brush a lamp?'), [], 'neither question nor quote have a word of it')
    assert.deepEqual(suggest('How thick is a wall?', '', 'wall'), [], 'a word of every passage says nothing')
  })

  test('are at most as many as wanted', () => {
    const hit = hitOf('## Install the server\n\n## Rotate the keys\n\n## Restore a backup\n\nText.')
    const suggest = (count: number): number =>
      finish(
        suggestQuestions({ asked: [], retrieval: finds(hit), count, filter: null }, finding(finds(hit)), new Candidates([hit])),
      ).length
    assert.deepEqual([0, 1, 2].map(suggest), [0, 1, 2])
  })

  test('are made only of as many passages as are asked about', () => {
    const lookedInto = (text: string, asked: string): number => {
      const seen = new Set<number>()
      const hits = Array.from({ length: 400 }, (_, at) => ({
        ...hitOf(''),
        get text() {
          seen.add(at)
          return text
        },
      }))
      const none = { ...finds(hits[0]!), hits: [] }
      finish(suggestQuestions({ asked: [asked], retrieval: none, count: 3, filter: null }, finding(none), new Candidates(hits)))
      return seen.size
    }
    const passage = '## How do I restore a backup?\n\nText.'
    assert.ok(lookedInto(passage, 'hello') <= 25, 'most were not asked about')
    assert.ok(lookedInto(passage, 'How can I restore backups?') < 300, 'all are like what was asked before')
    assert.equal(lookedInto('Text.', 'hello'), 400, 'none makes a question')
  })
})

describe('questions made of a passage', () => {
  const made = (text: string): string[] => [...phraseQuestions(hitOf(text))]

  test('of headings: instructions ask how, in the words of the user', () => {
    for (const [heading, question] of [
      ['Opening hours', 'What are the opening hours?'],
      ['Configuring the proxy', 'How do I configure the proxy?'],
      ['2.1 Deploy to Kubernetes', 'How do I deploy to Kubernetes?'],
      ['How to Write a Plugin', 'How do I write a Plugin?'],
      ['Secure your laptop', 'How do I secure my laptop?'],
      ['Update the server', 'How do I update the server?'],
      ['How Does the Proxy Work With Kubernetes?', 'How does the proxy work with Kubernetes?'],
      ['Q: Is it free?', 'Is it free?'],
    ])
      assert.deepEqual(made(`## ${heading}\n\nThis is the text of it, and with the proxy it does work.`), [question])
  })

  test('of headings in other languages', () => {
    for (const [heading, text, question] of [
      ['Modifier un dossier', 'Le dossier est ouvert, et vous pouvez le modifier.', 'Comment modifier un dossier ?'],
      ['Cambiar la clave', 'La clave se cambia en la página de su cuenta.', '¿Cómo cambiar la clave?'],
      ['Modificare il profilo', 'Il profilo si trova nella pagina delle impostazioni.', 'Come modificare il profilo?'],
      ['Alterar a senha', 'A senha é alterada na página da sua conta.', 'Como alterar a senha?'],
      ['Das Passwort ändern', 'Das Passwort wird auf der Seite des Kontos geändert.', 'Wie kann ich das Passwort ändern?'],
      ['ユーザーをミュートする', 'このページでユーザーをミュートします。', 'ユーザーをミュートするには？'],
      ['Q : Que faire ici ?', 'Le dossier est ouvert, et vous pouvez le modifier.', 'Que faire ici ?'],
    ])
      assert.deepEqual(made(`## ${heading}\n\n${text}`), [question])
    assert.deepEqual(made('## Rückgaben und Umtausch\n\nDie Rückgabe ist bis zum Ende der Frist möglich.'), [])
  })

  test('of sentences that say what something is', () => {
    assert.deepEqual(made('A widget is a small part of a page. It is blue.'), ['What is a widget?'])
    assert.deepEqual(made('Webhooks are the way to hear of changes. All webhooks are signed.'), ['What are webhooks?'])
  })

  test('not of headings that name no subject, nor of sentences that point back', () => {
    for (const text of [
      '## Overview\n\nText.',
      '## Next steps\n\nText.',
      '## The small model is the default\n\nText.',
      '## Rate limits\n\nThe rate is limited.',
      '## Access control\n\nText of it.',
      '## Use of cars\n\nText of it.',
      '## Troubleshoot & tips\n\nText of it.',
      '## Apply the macro to\n\nText of it.',
      '## What we do for you\n\nText of it.',
      '## Still not sure?\n\nText of it.',
      '## Do you feel ready?\n\nText of it.',
      '## How does it help?\n\nText of it.',
      'Text of it. Is it a question of the text? It is.',
      'This is a widget.',
      'The conflict was a war.',
      'Subsequently is a word.',
    ]) {
      assert.deepEqual(made(text), [], text)
    }
  })
})
