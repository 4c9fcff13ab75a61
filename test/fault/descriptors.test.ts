// No file or connection more may be opened: who comes then is turned away, the log tells, and it works again when some are closed.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { useUpDescriptors } from '../support/limits.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

test('descriptors run out: the service lives, says so, and serves when there are some again', {
  skip: needsProcess,
}, async () => {
  const service = await startService({ REPARTEE_LOG_LEVEL: 'warn' })
  after(() => service.stop())
  const { client } = service
  const agent = await service.newAgent()
  const session = await service.newSession(agent)
  isOk(await client.post(`${session}/messages`, { message: 'before' }))
  const { free, lift } = await useUpDescriptors(service)
  await until('the log tells', () => /no more files and connections can be opened/.test(service.printed()))
  assert.equal(service.exitCode(), null)
  free()
  const look = () =>
    client.get(session).then(
      (answer) => (answer.status === 200 ? answer : undefined),
      () => undefined,
    )
  const answer = await until('others are served', look)
  assert.equal(answer.body.messages.length, 2)
  isOk(await client.post(`${session}/messages`, { message: 'after' }))
  await until('the log tells that it is over', () => /files and connections can be opened again/.test(service.printed()))
  lift()
})
