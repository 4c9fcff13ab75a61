// The service runs without the special rights of the administrator, as it should.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

/** The administrator may raise the priority of a process, unless without that right. */
const by = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-sys_nice'] : []

test('documents are read by a process that may not raise its priority', { skip: needsProcess }, async () => {
  const service = await startService({}, { by })
  const { client } = service
  const agent = await service.newAgent()
  const added = await client.post(`/agents/${agent}/documents`, {
    html: '<h1>Lamps</h1><p>The walnut lamp burns for nine hours.</p>',
  })
  isOk(added, 202)
  const path = `/agents/${agent}/documents/${added.body.document.id}`
  const document = await until('it is read', async () => {
    const { document } = (await client.get(path)).body
    return /^(ready|failed)$/.test(document.status) && document
  })
  assert.equal(document.status, 'ready', JSON.stringify(document.error))
})
