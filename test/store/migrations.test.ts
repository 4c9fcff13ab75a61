// A new version brings the schema up while processes of the version before are at work: here the version before is this one.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import pg from 'pg'
import { migratePostgres } from '../../src/store/postgres/migrate.ts'
import { isOk } from '../support/assert.ts'
import type { Answer } from '../support/client.ts'
import { until } from '../support/poll.ts'
import { dropDatabase, newDatabase, query } from '../support/postgres.ts'
import { type Service, startService } from '../support/service.ts'

const MIGRATIONS = fileURLToPath(new URL('../../migrations/postgres/', import.meta.url))
/** Longer than a request waits for a lock. */
const LONG_MS = 4_000

test('a schema is brought up beside processes of the version before, and they go on', async () => {
  const database = await newDatabase()
  const service = await startService({ REPARTEE_DATABASE_URL: database })
  const folder = mkdtempSync(join(tmpdir(), 'repartee-migrations-'))
  const connections = await Promise.all([1, 2].map(() => connect(database)))
  const [migrating, reading] = connections as [pg.Client, pg.Client]
  try {
    await doEverything(service)
    const tables = await query(database, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")
    const additions = tables.map(({ name }) => `ALTER TABLE ${name} ADD COLUMN added TEXT NOT NULL DEFAULT 'x';`)
    cpSync(MIGRATIONS, folder, { recursive: true })
    writeFileSync(join(folder, '9001-additions.sql'), [...additions, 'CREATE TABLE addition (id TEXT PRIMARY KEY);'].join('\n'))

    const session = await service.newSession(await service.newAgent())
    let isOver = false
    const sending = (async () => {
      const sent: string[] = []
      while (!isOver || sent.length < 20) {
        const message = `Message ${sent.length}`
        isOk(await service.client.post(`${session}/messages`, { message }))
        sent.push(message)
      }
      return sent
    })()
    // A change of a table waits for whoever reads it, and everybody else behind it.
    await reading.query('BEGIN')
    await reading.query('SELECT count(*) FROM message')
    const migrated = migratePostgres(migrating, pathToFileURL(`${folder}/`))
    await pause(LONG_MS)
    await reading.query('COMMIT')
    await migrated
    isOver = true
    const sent = await sending
    assert.equal((await query(database, 'SELECT version FROM schema_version'))[0].version, '9001')

    const id = session.split('/').at(-1)
    const stored = await query(database, `SELECT content FROM message WHERE session_id = '${id}' AND role = 'USER' ORDER BY seq`)
    assert.deepEqual(
      stored.map(({ content }) => content),
      sent,
    )
    await doEverything(service)
    await assert.rejects(startService({ REPARTEE_DATABASE_URL: database }), /newer version of Repartee/)
  } finally {
    await Promise.all(connections.map((connection) => connection.end()))
    await service.stop()
    await dropDatabase(database)
    rmSync(folder, { recursive: true })
  }
})

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

/** Each kind of statement once, so that what is prepared is used again. */
async function doEverything({ client, newAgent, newSession }: Service): Promise<void> {
  const agent = `/agents/${await newAgent({ model: 'extractive' })}`
  const ok = async (answer: Promise<Answer>, status?: number) => isOk(await answer, status)
  for (let i = 0; i < 2; i++) {
    await ok(client.post(`${agent}/documents`, { markdown: `# Kettle ${i}\n\nThe kettle weighs ${i}00 grams.` }), 202)
    await until('the documents are ready', async () => {
      const { total } = (await client.get(`${agent}/documents?status=ready`)).body.pagination
      return total === i + 1
    })
    const session = await newSession(agent.slice('/agents/'.length), { externalUserId: randomUUID() })
    const headers = { 'Idempotency-Key': `k${i}-${session}`.slice(0, 60) }
    await ok(client.post(`${session}/messages`, { message: 'What does the kettle weigh?' }, { headers }))
    await ok(client.post(`${session}/messages`, { message: 'And in pounds?' }))
    await ok(client.get(`${session}/messages`))
    await ok(client.get(session))
    await ok(client.patch(session, { name: 'Kettles' }))
    await ok(client.get(`${agent}/sessions`))
    await ok(client.get(`${agent}/insights`))
    await ok(client.get(agent))
    await ok(client.get('/agents'))
    await ok(client.get('/keys'))
    await ok(client.post(`${agent}/search`, { query: 'kettle' }))
    await ok(client.delete(session))
  }
  await ok(client.delete(agent))
}
