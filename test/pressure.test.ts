import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Pressure } from '../src/http/pressure.ts'
import { until } from './support/poll.ts'

const DAY_MS = 86_400_000
let sharedMs = 0
const waits: Record<string, number> = { busy: 4 * DAY_MS, idle: 0 }
const pressure = new Pressure({
  // Longer than any machine holds the event loop.
  maxDelayMs: DAY_MS,
  sharedWait: () => sharedMs,
  wait: (agentId) => (agentId === undefined ? Math.max(...Object.values(waits)) : waits[agentId]!),
  warn() {},
  stalled() {},
})
after(() => pressure.close())

/** How many of 100 requests are refused. */
const refusedOf = (agentId?: string) => Array.from({ length: 100 }, () => pressure.refuses(agentId)).filter((is) => is).length
const refusedLater = (agentId: string) =>
  Array.from({ length: 100 }, () => pressure.refusesFor(agentId)).filter((is) => is).length

test('too much work for one agent is no reason to refuse requests for another', async () => {
  await until('requests for the busy agent are refused', () => refusedOf('busy') > 50)
  assert.equal(refusedOf('idle'), 0)
  assert.equal(refusedOf(), 0, 'which agent it is about is not known yet')
  assert.ok(refusedLater('busy') > 0)
  assert.equal(refusedLater('idle'), 0)
  sharedMs = 4 * DAY_MS
  await until('requests for every agent are refused', () => refusedOf('idle') > 0)
  assert.ok(refusedOf() > 0)
  assert.equal(refusedLater('idle'), 0, 'it was let in a moment ago')
})
