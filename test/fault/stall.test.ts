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
  // A busy machine may have let it stand still for shorter times before.
  const [line] = await until('it is told of', () =>
    [...service.printed().matchAll(/\{.*the event loop stood still for (\d+) ms.*\}/g)].find(
      (found) => Number(found[1]) > 0.8 * ms,
    ),
  )
  assert.equal(JSON.parse(line).level, 40)
  isOk(await service.client.post(`${session}/messages`, { message: 'hello again' }))
})
