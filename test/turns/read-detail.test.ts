// A reply with many sources is read in turns: parsing and sending it takes milliseconds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WholeMessage } from '../../src/store/tables/messages.ts'
import { readDetail } from '../../src/turns/read-message.ts'

const reply = (chars: number) => ({ content: '', detail: JSON.stringify({ run: 'x'.repeat(chars) }) }) as WholeMessage

test('of replies with long details, one is read in each round of the event loop, and short ones at once', async () => {
  const read: string[] = []
  const begin = (name: string, chars: number, owner = 'one') => void readDetail(reply(chars), owner).then(() => read.push(name))
  for (const name of ['a', 'b', 'c']) begin(name, 20_000)
  begin('short', 10)
  const byRound: string[] = []
  for (let i = 0; i < 4; i++) {
    await new Promise(setImmediate)
    byRound.push(read.splice(0).join())
  }
  assert.deepEqual(byRound, ['short,a', 'b', 'c', ''])
})

test('of replies with long details, callers have theirs in turn', async () => {
  const read: string[] = []
  const begin = (name: string, owner: string) => void readDetail(reply(20_000), owner).then(() => read.push(name))
  for (const name of ['a', 'b', 'c']) begin(name, 'one')
  begin('other', 'two')
  for (let i = 0; i < 5; i++) await new Promise(setImmediate)
  assert.deepEqual(read, ['a', 'other', 'b', 'c'])
})

test('a reply with a long text waits, too', async () => {
  let isRead = false
  const reading = readDetail({ content: '字'.repeat(20_000), detail: null } as WholeMessage, 'one').then(() => {
    isRead = true
  })
  await Promise.resolve()
  await Promise.resolve()
  assert.equal(isRead, false)
  await reading
})
