import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { stall } from '../support/stall.ts'

test('a process that stood still says for how long, and goes on', { skip: needsProcess }, async () => {
  const service = await startService({ REPARTEE_LOG_LEVEL: 'warn' })
  after(() => service.stop())
  const session = await service.newSession(await service.newAgent())
  const ms = 2_500
  const standing = stall(service.pid()!, ms)
  const sent = service.client.post(`${session}/messages`, { message: 'hello' })
  await standing
  isOk(await sent)
  const line = await until(
    'it is told of',
    () => /\{.*the event loop stood still for (\d+) ms.*\}/.exec(service.printed()) ?? undefined,
  )
  assert.equal(JSON.parse(line[0]).level, 40)
  assert.ok(Number(line[1]) > 0.8 * ms, line[0])
  isOk(await service.client.post(`${session}/messages`, { message: 'hello again' }))
})
