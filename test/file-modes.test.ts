// Nothing that is written can be read by other users of the machine, whatever folder it is written to.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { repartee } from './cli/repartee.ts'
import { isOk } from './support/assert.ts'
import { until } from './support/poll.ts'
import { needsProcess, startService } from './support/service.ts'

/** Each file and folder below one, with the rights of others. */
const openTo = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0)

test('files of a data folder and of a backup are for their owner alone, though the folders are open to all', {
  skip: needsProcess || process.platform === 'win32',
}, async () => {
  process.umask(0o022)
  const [data, backup] = ['data', 'backup'].map((name) => mkdtempSync(join(tmpdir(), name)))
  for (const folder of [data!, backup!]) chmodSync(folder, 0o755)
  const { client, newAgent, newSession } = await startService({ REPARTEE_DATABASE_URL: '', REPARTEE_DATA: data! })
  const agent = await newAgent()
  isOk(await client.post(`${await newSession(agent)}/messages`, { message: 'Hello' }))
  isOk(await client.post(`/agents/${agent}/documents`, { text: 'The walnut is brown.' }), 202)
  await until(
    'it is ready',
    async () => (await client.get(`/agents/${agent}/documents?status=ready`)).body.pagination.total === 1,
  )
  const { code, stderr } = await repartee(['backup', backup!], { REPARTEE_DATA: data! })
  assert.equal(code, 0, stderr)
  assert.ok(readdirSync(data!).includes('repartee.db') && readdirSync(backup!).includes('repartee.db'))
  assert.deepEqual([openTo(data!), openTo(backup!)], [[], []])
  // As on a medium that knows no modes.
  const restored = mkdtempSync(join(tmpdir(), 'restored'))
  chmodSync(restored, 0o755)
  for (const name of readdirSync(backup!, { recursive: true, encoding: 'utf8' })) chmodSync(join(backup!, name), 0o777)
  assert.equal((await repartee(['restore', backup!], { REPARTEE_DATA: restored })).code, 0)
  assert.ok(readdirSync(join(restored, 'knowledge')).length > 0)
  assert.deepEqual(openTo(restored), [])
})
