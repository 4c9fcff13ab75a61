import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { CONVERSATIONS, KNOWLEDGE } from '../../src/store/backup/move/place.ts'
import { isOk } from '../support/assert.ts'
import type { Client } from '../support/client.ts'
import { EmbeddingServer } from '../support/embedding-server.ts'
import { until } from '../support/poll.ts'
import { dropDatabase, newDatabase, query } from '../support/postgres.ts'
import { type Service, startService } from '../support/service.ts'
import { repartee, start } from './repartee.ts'

const root = mkdtempSync(join(tmpdir(), 'repartee-move-'))
const embeddings = await new EmbeddingServer().start()
const databases: string[] = []
after(async () => {
  rmSync(root, { recursive: true })
  await embeddings.stop()
  for (const database of databases) await dropDatabase(database)
})
let made = 0
const folder = () => join(root, `folder-${++made}`)
const database = async () => {
  const url = await newDatabase()
  databases.push(url)
  return url
}
const providers = { REPARTEE_PROVIDERS: JSON.stringify({ near: { protocol: 'chat', baseUrl: `${embeddings.url}/v1` } }) }
const serve = (place: string, key?: string) =>
  startService({
    ...providers,
    REPARTEE_DATA: place.startsWith('postgres') ? folder() : place,
    REPARTEE_DATABASE_URL: place.startsWith('postgres') ? place : '',
    ...(key === undefined ? {} : { REPARTEE_ADMIN_KEY: key }),
  })
const run = (args: string[], env = {}) => repartee(args, { REPARTEE_DATA: folder(), ...env })
const move = (from: string, to: string) => run(['move', '--from', from, '--to', to, '--json'])

/** Something of every kind that is kept. Resolves to the agents. */
async function fill({ client, model, newAgent, newSession }: Service): Promise<string[]> {
  const words = ['kettle', 'Wasserkocher', 'やかん', 'чайник', 'bouilloire', '주전자']
  const agents = [
    await newAgent({ model: 'extractive', embeddingModel: 'near/e', retrieval: { mode: 'hybrid' } }),
    await newAgent({ model: 'openai/stub', instructions: 'Be kind.' }),
  ]
  await newAgent({ name: 'Nobody talks to it' })
  for (const agent of agents) {
    const documents = `/agents/${agent}/documents`
    for (const [i, word] of words.entries())
      isOk(await client.post(documents, { markdown: `# ${word}\n\nThe ${word} weighs ${i}00 grams.` }), 202)
    await until(
      'all are ready',
      async () => (await client.get(`${documents}?status=ready`)).body.pagination.total === words.length,
    )
    const { documents: all } = (await client.get(documents)).body
    isOk(await client.delete(`${documents}/${all[0].id}`))
    isOk(await client.patch(`${documents}/${all[1].id}`, { title: 'Renamed' }))
    const session = await newSession(agent, { name: `Über ${words[2]}`, externalUserId: randomUUID() })
    isOk(await client.post(`${session}/messages`, { message: 'What does the bouilloire weigh?', format: 'html' }))
    const { body } = await client.post(`${session}/messages`, { message: 'And the kettle? \u{1f600} \\ "quoted"\n\t{a,b}' })
    isOk(await client.post(`${session}/messages/${body.aiMessage.id}/regenerate`, {}))
    isOk(await client.put(`${session}/messages/${body.aiMessage.id}/feedback`, { rating: 'down', comment: 'NULL' }))
    const messages = Array.from({ length: 2_100 }, (_, i) => ({ role: i % 2 ? 'AI' : 'USER', content: `old ${i}` }))
    isOk(await client.post(`/agents/${agent}/sessions/import`, { messages }), 201)
    for (let i = 0; i < 30; i++) await newSession(agent)
  }
  isOk(await client.post('/keys', { name: 'of one agent', scopes: ['chat'], agentIds: [agents[0]] }), 201)
  model.reset()
  return agents
}

/** All that clients can see. */
async function look(client: Client, agents: string[]): Promise<object> {
  const seen: Record<string, string> = {}
  const see = async (path: string, body?: object) => {
    const answer = body === undefined ? await client.get(path) : await client.post(path, body)
    isOk(answer)
    // What depends on when it is asked is left out.
    seen[`${path} ${JSON.stringify(body)}`] = answer.text.replace(/"(timeAgo|tookMs|lastUsedAt)":("[^"]*"|null|[\d.]+)/g, '')
    return answer.body
  }
  await see('/agents')
  await see('/keys')
  for (const agent of agents) {
    await see(`/agents/${agent}/documents`)
    for (const asked of ['kettel', 'how heavy is the чайник', 'やかん']) await see(`/agents/${agent}/search`, { query: asked })
    const { sessions } = await see(`/agents/${agent}/sessions?limit=100`)
    for (const { id } of sessions) {
      const { messages } = await see(`/agents/${agent}/sessions/${id}/messages?limit=100`)
      const [reply] = messages.filter(({ role }: { role: string }) => role === 'AI')
      if (reply !== undefined) await see(`/agents/${agent}/sessions/${id}/messages/${messages.at(-1).id}/versions`)
    }
  }
  return seen
}

describe('move', () => {
  test('into PostgreSQL and back: everything that clients see is there, and every row is the same', async () => {
    const [first, second, third] = [folder(), await database(), folder()]
    const here = await serve(first)
    after(here.stop)
    const agents = await fill(here)
    const before = await look(here.client, agents)
    const inUse = await move(first, second)
    assert.equal(inUse.code, 1)
    assert.match(inUse.stderr, /in use by another process/)
    await here.end('SIGTERM')

    const there = await move(first, second)
    assert.equal(there.code, 0, there.stderr)
    const { tables } = JSON.parse(there.stdout)
    const rowsOf = (name: string) => tables.find(({ table }: { table: string }) => table === name).rows
    assert.equal(rowsOf('session'), 64)
    assert.equal(rowsOf('message'), 4_208)
    assert.equal(rowsOf('message_version'), 2)
    assert.equal(rowsOf('api_key'), 2)
    assert.equal(rowsOf('knowledge_document'), 10)
    assert.equal(rowsOf('knowledge_vector'), 5)

    const moved = await serve(second, here.client.key)
    after(moved.stop)
    assert.deepEqual(await look(moved.client, agents), before)
    const used = await move(second, third)
    assert.equal(used.code, 1)
    assert.match(used.stderr, /is in use: stop every process of the service first/)
    await moved.end('SIGTERM')

    const back = await move(second, third)
    assert.equal(back.code, 0, back.stderr)
    assert.deepEqual(
      readdirSync(third)
        .filter((name) => !/lock|-shm|-wal/.test(name))
        .sort(), // prettier
      ['knowledge', 'repartee.db'],
    )
    const again = await serve(third, here.client.key)
    after(again.stop)
    assert.deepEqual(await look(again.client, agents), before)
    // It is no dead copy.
    const documents = `/agents/${agents[0]}/documents`
    isOk(await again.client.post(documents, { markdown: '# Samovar\n\nThe samovar weighs 9 kilos.' }), 202)
    await until('it is ready', async () => (await again.client.get(`${documents}?status=ready`)).body.pagination.total === 6)
    const { hits } = (await again.client.post(`/agents/${agents[0]}/search`, { query: 'samovar' })).body
    assert.match(hits[0].text, /9 kilos/)
    const fourth = await database()
    await again.end('SIGTERM')
    assert.equal((await move(third, fourth)).code, 0)
  })

  test('killed again and again it goes on where it was; until it is whole, no service starts on it', async (t) => {
    const [first, second, third] = [folder(), await database(), folder()]
    const here = await serve(first)
    after(here.stop)
    await fill(here)
    await here.end('SIGTERM')
    for (const [from, to] of [
      [first, second],
      [second, third],
    ] as const) {
      const isBegun = async () =>
        to === third
          ? existsSync(join(to, 'moving.db'))
          : (await query(to, "SELECT to_regclass('half_moved') AS half"))[0].half !== null
      let cut = 0
      while (cut < 3) {
        const { child, ended } = start(['move', '--from', from, '--to', to], { REPARTEE_DATA: folder() })
        let isOver = false
        void ended.then(() => (isOver = true))
        // First as soon as it has begun, then somewhere on its way.
        if (cut === 0) await until('it has begun', async () => isOver || (await isBegun()))
        else await Promise.race([ended, pause(300 * cut)])
        child.kill('SIGKILL')
        if ((await ended).code === 0) break
        if (++cut > 1) continue
        const started = serve(to).then((service) => service.stop())
        await assert.rejects(started, /a move into .* is not finished/)
      }
      t.diagnostic(`cut off ${cut} times`)
      assert.ok(cut > 0)
      const last = await move(from, to)
      if (last.code !== 0) assert.match(last.stderr, /holds data already/) // whole before
      assert.equal(await isBegun(), false)
    }
    const [original, copied] = [await move(first, await database()), await move(third, await database())]
    assert.equal(original.code, 0, original.stderr)
    assert.equal(copied.stdout, original.stdout)
  })

  test('what changed at the source between two tries is found out', async () => {
    const [first, second] = [folder(), await database()]
    const here = await serve(first)
    after(here.stop)
    const session = await here.newSession(await here.newAgent())
    await here.end('SIGTERM')
    await query(second, 'SELECT 1')
    const { code } = await move(first, second)
    assert.equal(code, 0)
    // As if it had been cut off at the end.
    await query(second, `CREATE TABLE half_moved AS SELECT '${first}'::text AS source`)
    await here.restart()
    isOk(await here.client.patch(session, { name: 'Another' }))
    await here.end('SIGTERM')
    const again = await move(first, second)
    assert.equal(again.code, 1)
    assert.match(again.stderr, /Table session of postgres:.* is not that of .*, which changed since the move began/)
    const other = folder()
    const there = await serve(other)
    await there.end('SIGTERM')
    assert.match((await move(other, second)).stderr, /is half filled from/)
    await there.stop()
  })

  test('into PostgreSQL, as a restore there, replaces U+0000 in all text', async () => {
    const [first, second, third, backup] = [folder(), await database(), await database(), folder()]
    const here = await serve(first)
    after(here.stop)
    const agents = await fill(here)
    await here.stop()
    const places: [file: string, sets: string][] = [
      ['repartee.db', 'UPDATE agent SET name = name || char(0)'],
      ['repartee.db', "UPDATE message SET content = 'a' || char(0) || content WHERE seq = 1"],
      [`knowledge/${agents[0]}.db`, 'UPDATE passage SET text = text || char(0), heading = char(0) || heading'],
      [`knowledge/${agents[0]}.db`, "UPDATE document SET title = 'x' || char(0), indexed_title = 'x' || char(0)"],
    ]
    for (const [file, sql] of places) {
      const db = new DatabaseSync(join(first, file))
      db.exec(sql)
      db.close()
    }
    assert.equal((await run(['backup', backup], { REPARTEE_DATA: first })).code, 0)
    const moved = await move(first, second)
    assert.equal(moved.code, 0, moved.stderr)
    const restored = await run(['restore', backup], { REPARTEE_DATABASE_URL: third })
    assert.equal(restored.code, 0, restored.stderr)
    for (const place of [second, third]) {
      const titles = await query(
        place,
        `SELECT DISTINCT title, indexed_title FROM knowledge_document WHERE agent_id = '${agents[0]}'`,
      )
      assert.deepEqual(titles, [{ title: 'x\ufffd', indexed_title: 'x\ufffd' }])
      const [{ passages }] = await query(
        place,
        `SELECT count(*)::int AS passages FROM knowledge_passage WHERE text LIKE '%\ufffd' AND heading LIKE '\ufffd%'`,
      )
      const [{ messages }] = await query(place, `SELECT count(*)::int AS messages FROM message WHERE content LIKE 'a\ufffd%'`)
      assert.ok(passages > 0 && messages > 0, `${passages} passages, ${messages} messages`)
    }
  })

  test('goes into an empty place only, and says so; a password is not shown', async () => {
    const [first, second] = [folder(), await database()]
    const here = await serve(first)
    after(here.stop)
    await here.end('SIGTERM')
    const there = await serve(second)
    after(there.stop)
    await there.end('SIGTERM')
    assert.match((await move(first, second)).stderr, /holds data already: name an empty database/)
    assert.match((await move(second, first)).stderr, /holds data already: name a folder that holds none/)
    assert.match((await move(folder(), second)).stderr, /holds no data/)
    assert.match((await move(await database(), folder())).stderr, /holds no data/)
    const same = await run(['move', '--from', first], { REPARTEE_DATA: first })
    assert.equal(same.code, 2)
    assert.match(same.stderr, /Say where to move to/)
    const away = await move(first, 'postgres://me:hushhush@127.0.0.1:1/x')
    assert.equal(away.code, 1)
    assert.match(away.stderr, /postgres:\/\/me@127\.0\.0\.1:1\/x is out of reach/)
    assert.ok(!away.stderr.includes('hushhush'))
  })
})

test('every table of both engines is moved, but for what processes tell each other, or can make anew', async () => {
  const notMoved = [
    'followed_text',
    'followed_turn',
    'generation',
    'knowledge_near',
    'knowledge_removal',
    'rate_window',
    'replica',
    'schema_version',
    'stop_request',
    'waiting_send',
  ]
  const url = await database()
  const data = folder()
  for (const place of [url, data]) await (await serve(place)).stop()
  const ofKnowledge = [...KNOWLEDGE.map(({ name }) => `knowledge_${name}`), 'knowledge_manifest']
  const conversations = CONVERSATIONS.map(({ name }) => name)
  const there = await query(url, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")
  const db = new DatabaseSync(join(data, 'repartee.db'))
  const here = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'").all()
  db.close()
  const names = (rows: { name?: unknown }[]) => rows.map(({ name }) => name).sort()
  assert.deepEqual(names(there), [...conversations, ...ofKnowledge, ...notMoved].sort())
  const ofBoth = notMoved.filter((name) => !/^(followed_|knowledge_|rate_)/.test(name))
  assert.deepEqual(names([...here, { name: 'schema_version' }]), [...conversations, ...ofBoth].sort())
})

describe('a backup of PostgreSQL', () => {
  test('made while messages come in is restored, as of one moment, to a folder and to another database', async () => {
    const url = await database()
    const here = await serve(url)
    after(here.stop)
    const { client } = here
    const agent = await here.newAgent({ model: 'extractive' })
    const session = await here.newSession(agent)
    isOk(await client.post(`/agents/${agent}/documents`, { markdown: '# Kettle\n\nThe kettle weighs 900 grams.' }), 202)
    let isOver = false
    let sent = 0
    const busy = (async () => {
      while (!isOver) isOk(await client.post(`${session}/messages`, { message: `message ${sent++}` }))
    })()
    await until('there is some', () => sent > 3)
    const target = folder()
    const done = await run(['backup', target], { REPARTEE_DATABASE_URL: url })
    assert.equal(done.code, 0, done.stderr)
    isOver = true
    await busy
    const [data, other] = [folder(), await database()]
    const toFolder = await run(['restore', target], { REPARTEE_DATA: data })
    assert.equal(toFolder.code, 0, toFolder.stderr)
    const toDatabase = await run(['restore', target], { REPARTEE_DATABASE_URL: other })
    assert.equal(toDatabase.code, 0, toDatabase.stderr)
    for (const place of [data, other]) {
      const restored = await serve(place, client.key)
      after(restored.stop)
      const { messages } = (await restored.client.get(`${session}/messages?limit=100`)).body
      assert.ok(messages.length >= 4)
      for (const [i, { role }] of messages.entries()) assert.equal(role, i % 2 === 0 ? 'USER' : 'AI')
      const ready = `/agents/${agent}/documents?status=ready`
      await until('it is ready', async () => (await restored.client.get(ready)).body.pagination.total === 1)
      const { hits } = (await restored.client.post(`/agents/${agent}/search`, { query: 'How heavy is the kettle?' })).body
      assert.match(hits[0].text, /900 grams/)
    }
    assert.match((await run(['restore', target], { REPARTEE_DATABASE_URL: other })).stderr, /in use|holds data already/)
  })
})
