import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { repartee } from '../cli/repartee.ts'
import { faultsOf, type Sent, send, speakSlowly } from '../support/acknowledged.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

/** More for a long run: `CRASH_ROUNDS=200 node --test test/fault/crash.test.ts`. */
const { CRASH_ROUNDS, TEST_ENGINE } = process.env
const ROUNDS = Number(CRASH_ROUNDS ?? (TEST_ENGINE === 'postgres' ? 6 : 12))
/** Every other one asks for events. */
const SENDERS = 8

let service: Service
before(async () => {
  service = await startService()
  speakSlowly(service.model)
})
after(() => service.stop())

test('kills during sends, streamed and plain: every acknowledged message is there afterwards, once, in order, behind it its own reply', {
  skip: needsProcess,
}, async () => {
  const { client } = service
  const agent = await service.newAgent()
  const acknowledged: Sent[] = []
  const failures: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const sessions = await Promise.all(Array.from({ length: SENDERS }, () => service.newSession(agent)))
    let killed = false
    const senders = sessions.map(async (session, sender) => {
      for (let n = 0; !killed; n++) {
        const sent = await send(client, session, `${round}.${sender}.${n}`, sender % 2 === 1).catch(() => undefined)
        if (sent !== undefined) acknowledged.push(sent)
      }
    })
    // So many acknowledged sends, and not a time: a slow machine is killed in the middle as well.
    const target = acknowledged.length + 5 + round
    while (acknowledged.length < target) await new Promise(setImmediate)
    await service.kill()
    killed = true
    await Promise.all(senders)
    await service.restart()
    for (const session of sessions) failures.push(...(await faultsOf(client, session, acknowledged)))
  }
  assert.deepEqual(failures, [])
  assert.ok(acknowledged.length >= ROUNDS * 5)
  const place = service.database === undefined ? { REPARTEE_DATA: service.data } : { REPARTEE_DATABASE_URL: service.database }
  const { code, stdout, stderr } = await repartee(['check'], place)
  assert.equal(code, 0, stdout + stderr)
})
