import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { smallTalk } from '../../src/reply/small-talk.ts'

const agent = { name: 'Lumen', greeting: '' }

describe('small talk', () => {
  for (const [message, reply] of [
    ['Hello!', /^Hello!/],
    ['hi Lumen 👋', /^Hello!/],
    ['  THANKS a lot!! ', /^You are welcome/],
    ['thanks, works', /^You are welcome/],
    ['That helped, thank you!', /^You are welcome/],
    ['Danke für die Hilfe', /^Gern/],
    ['Merci, ça marche', /^(?:Je vous en prie|De rien|Avec plaisir)/],
    ['Bye.', /^Goodbye/],
    ['Who are you?', /^I am Lumen, an assistant/],
    ["What's your name?", /^I am Lumen/],
    ['Grüß Gott', /^Hallo!/],
    ['Muchas gracias', /^De nada/],
    ['Qui êtes-vous ?', /^Je suis Lumen/],
    ['Как тебя зовут?', /^Я Lumen/],
    ['你好!', /您好/],
    ['ありがとうございます。', /どういたしまして/],
    ['مرحبا', /مرحب/],
    ['Γεια σας', /^Γεια/],
    ['ขอบคุณครับ', /ยินดี/],
  ] as const)
    test(`"${message}" is answered in its own language`, () => {
      assert.match(smallTalk(message, agent) ?? '', reply)
    })

  for (const message of [
    'Hello, how do I return a lamp?',
    'Thanks to whom was the yard built?',
    'Thanks, how does it work?',
    'Works',
    'Who are you going to call when the lamp breaks?',
    'Help desk opening hours',
    'hi-fi',
    'Lumen',
    '?',
    'Who is Lumen?',
  ])
    test(`"${message}" is a question like any other`, () => {
      assert.equal(smallTalk(message, agent), undefined)
    })

  test("the agent's own greeting goes before ours, and its name may hold anything", () => {
    assert.equal(smallTalk('Hi', { ...agent, greeting: 'Ahoy!' }), 'Ahoy!')
    assert.match(smallTalk('Who are you?', { name: '$& % (x', greeting: '' })!, /^I am \$& % \(x, an/)
  })
})
