// Of what is scarce there is always some left for a key that has none, however many users another key has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiKey } from '../../src/core/api-key.ts'
import { Shares, TenantShares } from '../../src/core/fairness/shares.ts'

const key = (id: string, userId?: string) => ({ id, ...(userId === undefined ? {} : { userId }) }) as ApiKey
/** Takes one after the other as long as it may; returns how many it were. */
function takeAll(shares: Shares, caller: ApiKey): number {
  for (let taken = 0; ; taken++) {
    if (!shares.mayHave(caller, 1)) return taken
    shares.take(caller, 1)
  }
}

test('a key may have half, and the next half of what is left', () => {
  const shares = new Shares(16)
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e'].map((id) => takeAll(shares, key(id))),
    [8, 4, 2, 1, 1],
  )
})

test('the users of a key have no more than the key', () => {
  const shares = new Shares(16)
  const users = Array.from({ length: 20 }, (_, i) => takeAll(shares, key('a', `u${i}`)))
  assert.equal(
    users.reduce((sum, n) => sum + n, 0),
    8,
  )
  assert.ok(users[0]! <= 6, 'one of them leaves some for the others')
  assert.equal(takeAll(shares, key('b')), 4)
})

test('what is given back can be had again', () => {
  const shares = new Shares(4)
  const user = key('a', 'u')
  const taken = takeAll(shares, user)
  assert.ok(taken > 0 && !shares.isUntouched)
  for (let i = 0; i < taken; i++) shares.give(user, 1)
  assert.ok(shares.isUntouched)
  assert.equal(takeAll(shares, user), taken)
})

test('there may be no limit', () => {
  const shares = new Shares(Number.POSITIVE_INFINITY)
  for (let i = 0; i < 1_000; i++) shares.take(key('a', 'u'), 1)
  assert.ok(shares.mayHave(key('a', 'u'), 1))
})

test('many keys of one agent, or many agents of one key, leave some for others', () => {
  const takeOf = (shares: TenantShares, id: string, agentId: string): number => {
    const asker = { caller: key(id), agentId }
    for (let taken = 0; ; taken++) {
      if (!shares.mayHave(asker, 1)) return taken
      shares.take(asker, 1)
    }
  }
  const many = ['1', '2', '3', '4', '5', '6']
  const sum = (counts: number[]) => counts.reduce((a, b) => a + b, 0)
  const ofAgent = new TenantShares(24)
  assert.equal(takeOf(ofAgent, 'k1', 'agent'), 12)
  assert.equal(12 + sum(many.map((n) => takeOf(ofAgent, n, 'agent'))), 16)
  assert.equal(takeOf(ofAgent, 'other', 'another'), 4)
  const ofKey = new TenantShares(24)
  assert.equal(sum(many.map((n) => takeOf(ofKey, 'key', n))), 12)
  assert.equal(takeOf(ofKey, 'other', 'another'), 6)
})
