// Another program holds the lock of a database file: for a moment is waited for, for longer is told of, and nothing that was acknowledged is lost.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { faultsOf, type Sent, send, speakSlowly } from '../support/acknowledged.ts'
import { isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { keepsFiles, startService } from '../support/service.ts'

const A_MOMENT_MS = 200
/** The service waits for a little longer. */
const WAITED_FOR_MS = 800

/** Keeps everybody else from writing into a file. Returns how to let go. */
function hold(path: string): () => void {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA busy_timeout = 60000; BEGIN IMMEDIATE')
  return () => db.close()
}

if (keepsFiles) {
  test('held again and again while messages are written: what was acknowledged is there, once and in order', async () => {
    const service = await startService()
    after(() => service.stop())
    const { client, model } = service
    speakSlowly(model)
    const agent = await service.newAgent()
    const sessions = await Promise.all(Array.from({ length: 4 }, () => service.newSession(agent)))
    const path = join(service.data, 'repartee.db')
    const acknowledged: Sent[] = []
    let refused = 0
    let isOver = false
    const senders = sessions.map(async (session, s) => {
      for (let i = 0; !isOver; i++) {
        const sent = await send(client, session, `message ${i} of ${s}`, false)
        if (sent === undefined) refused++
        else acknowledged.push(sent)
      }
    })
    // Shortly, and the sends wait; then until some are refused.
    for (const isLong of [false, true, false, true]) {
      const target = acknowledged.length + 4
      await until('some are acknowledged', () => acknowledged.length >= target)
      const [before, heldAt, letGo] = [refused, performance.now(), hold(path)]
      if (isLong) await until('some are refused', () => refused > before)
      else await until('a moment is over', () => performance.now() > heldAt + A_MOMENT_MS)
      letGo()
      // On a machine that is slow itself, a moment may be longer.
      if (!isLong && performance.now() - heldAt < WAITED_FOR_MS) assert.equal(refused, before, 'a moment is waited for')
    }
    const target = acknowledged.length + 4
    await until('it works again', () => acknowledged.length >= target)
    isOver = true
    await Promise.all(senders)
    await service.kill()
    await service.restart()
    const faults = await Promise.all(sessions.map((session) => faultsOf(client, session, acknowledged)))
    assert.deepEqual(faults.flat(), [])
  })

  test('a document that comes while the knowledge base is held is taken in when it is let go', async () => {
    const service = await startService()
    after(() => service.stop())
    const { client } = service
    const agent = await service.newAgent()
    const areRead = async (n: number) => {
      const { documents } = (await client.get(`/agents/${agent}/documents`)).body
      return documents.length === n && documents.every(({ status }: { status: string }) => status === 'ready')
    }
    const add = (text: string) => client.post(`/agents/${agent}/documents`, { text })
    isOk(await add('A lamp.'), 202)
    await until('it is read', () => areRead(1))
    const letGo = hold(join(service.data, 'knowledge', `${agent}.db`))
    const adding = add('Another lamp.')
    isOk(await client.post(`/agents/${agent}/search`, { query: 'lamp' }))
    isOk(await client.post(`${await service.newSession(agent)}/messages`, { message: 'hello' }))
    letGo()
    isOk(await adding, 202)
    await until('it is read', () => areRead(2))
  })
}
