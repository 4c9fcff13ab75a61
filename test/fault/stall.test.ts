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
  // A busy machine may have caused shorter delays before.
  const line = await until('the delay is logged', () =>
    service
      .printed()
      .split('\n')
      .filter((text) => text.includes('"event loop delayed"'))
      .map((text) => JSON.parse(text))
      .find((logged) => logged.ms > 0.8 * ms),
  )
  assert.equal(line.level, 40)
  assert.ok(line.routes.length <= 5)
  isOk(await service.client.post(`${session}/messages`, { message: 'hello again' }))
})
