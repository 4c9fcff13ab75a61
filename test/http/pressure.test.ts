import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Pressure } from '../../src/http/server/pressure.ts'
import { until } from '../support/poll.ts'

const DAY_MS = 86_400_000
let sharedMs = 0
/** By agent and key. */
const waits: Record<string, number> = { 'agent busy': 4 * DAY_MS, 'agent idle': 0, 'other busy': 0 }
const pressure = new Pressure({
  // Longer than any machine holds the event loop.
  maxDelayMs: DAY_MS,
  sharedWait: () => sharedMs,
  wait: (asker) => (asker === undefined ? Math.max(...Object.values(waits)) : waits[`${asker.agentId} ${asker.askedBy}`]!),
  warn() {},
  stalled() {},
})
after(() => pressure.close())

/** How many of 100 requests are refused before and after their key is known. */
const refused = () => Array.from({ length: 100 }, () => pressure.refuses()).filter((is) => is).length
const refusedOf = (agentId: string, askedBy: string) =>
  Array.from({ length: 100 }, () => pressure.refusesFor({ agentId, askedBy })).filter((is) => is).length

test('too much of one key at one agent is no reason to refuse others', async () => {
  await until('requests of the busy key are refused', () => refused() + refusedOf('agent', 'busy') > 50)
  assert.equal(refused(), 0, 'whose it is is not known yet')
  assert.equal(refusedOf('agent', 'idle'), 0)
  assert.equal(refusedOf('other', 'busy'), 0)
  sharedMs = 4 * DAY_MS
  await until('requests of every key are refused', () => refused() > 0)
  assert.equal(refusedOf('agent', 'idle'), 0, 'it was let in a moment ago')
})
