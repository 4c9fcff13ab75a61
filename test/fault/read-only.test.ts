// The data folder, or a part of it, cannot be written: it is said so at the start, and in use what writes there is refused.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { keepsFiles, startService } from '../support/service.ts'

/** The administrator may write whatever its mode says, unless without that right. */
const by = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : []

const noStack = (text: string) => assert.doesNotMatch(text, /\n\s+at /)

if (keepsFiles) {
  test('a folder that cannot be written keeps the service from starting, which names it', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'repartee-read-only-'))
    after(() => rmSync(parent, { recursive: true }))
    chmodSync(parent, 0o555)
    const folder = join(parent, 'data')
    const start = () => startService({ REPARTEE_DATA: folder }, { by })
    const refuses = (error: Error) => {
      assert.match(error.message, /ended with 1 before it was ready/)
      assert.ok(error.message.includes(`Repartee cannot start: the data folder ${folder} cannot be written`), error.message)
      noStack(error.message)
      return true
    }
    await assert.rejects(start(), refuses)
    chmodSync(parent, 0o755)
    mkdirSync(folder, { mode: 0o555 })
    await assert.rejects(start(), refuses)
    chmodSync(folder, 0o755)
    const service = await start()
    after(() => service.stop())
    await service.end('SIGTERM')
    chmodSync(join(folder, 'repartee.db'), 0o444)
    await assert.rejects(service.restart(), (error: Error) => {
      assert.match(error.message, /ended with 1 before it was ready/)
      assert.ok(error.message.includes(`Repartee cannot start: the data folder ${folder} cannot be used`), error.message)
      noStack(error.message)
      return true
    })
    // Its logs were made with the same mode.
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644)
    await service.restart()
    isOk(await service.client.get('/agents'))
  })

  test('a folder of documents that cannot be written any more refuses documents, and conversations go on', async () => {
    const service = await startService({ REPARTEE_LOG_LEVEL: 'warn' }, { by })
    after(() => service.stop())
    const { client } = service
    const [first, second] = [await service.newAgent(), await service.newAgent()]
    const knowledge = join(service.data, 'knowledge')
    const add = (agent: string, text = 'A lamp.') => client.post(`/agents/${agent}/documents`, { text })
    const areRead = async (agent: string) => {
      const { documents } = (await client.get(`/agents/${agent}/documents`)).body
      return documents.length > 0 && documents.every(({ status }: { status: string }) => status === 'ready')
    }
    isOk(await add(first), 202)
    await until('it is read', () => areRead(first))
    chmodSync(knowledge, 0o555)
    // The base of the first may still be open, and is written then.
    assert.ok([202, 503].includes((await add(first, 'A candle.')).status))
    isError(await add(second), 503, 'unavailable')
    isError(await client.post(`/agents/${second}/sources`, { type: 'site', url: 'https://example.com/' }), 503, 'unavailable')
    for (const agent of [first, second]) {
      const session = await service.newSession(agent)
      isOk(await client.post(`${session}/messages`, { message: 'hello' }))
    }
    assert.equal((await client.post(`/agents/${first}/search`, { query: 'lamp' })).body.hits.length, 1)
    chmodSync(knowledge, 0o755)
    isOk(await add(second), 202)
    await until('it is read', () => areRead(second))
  })
}
