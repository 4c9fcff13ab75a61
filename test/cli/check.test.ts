import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { check as checkAll } from '../../src/store/backup/check/check.ts'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { dropDatabase, newDatabase, query } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { storeOf } from '../support/store.ts'
import { repartee } from './repartee.ts'

const OF_SESSION = "session_id = (SELECT id FROM session WHERE name = 'talk')"
const BREAK_CONVERSATIONS: [sql: string, what: RegExp][] = [
  [`DELETE FROM message WHERE ${OF_SESSION} AND seq = 2`, /1 sessions whose messages are not numbered from 1 without gaps/],
  [`UPDATE session SET message_count = 7 WHERE name = 'talk'`, /1 sessions whose messages .* not as many as the session says/],
  [`DELETE FROM session WHERE name = 'talk'`, /1 sessions that do not exist, but have messages/],
  [`UPDATE message SET turn = 'running' WHERE ${OF_SESSION} AND seq = 3`, /1 turns that nobody runs/],
  [`UPDATE message_version SET message_id = 'x' WHERE ${OF_SESSION}`, /1 earlier versions of a message that does not exist/],
  [`UPDATE session_count SET sessions = sessions + 1 WHERE shard = 7`, /\d agents whose sessions are counted wrongly/],
  [`DELETE FROM agent WHERE name = 'checked'`, /\d sessions of an agent that does not exist/],
  [`DELETE FROM agent WHERE name = 'checked'`, /1 knowledge bases of an agent that does not exist/],
  [
    `INSERT INTO summary (agent_id, session_id, upto, text, updated_at) VALUES ('a', 'b', 1, 'x', 1)`,
    /1 summaries of a session that does not exist, such as a\/b/,
  ],
  [
    `INSERT INTO kept_answer (api_key_id, key_hash, fingerprint, agent_id, session_id, claim, claimed_until, created_at)
     VALUES ('k', 'h', 'f', 'a', 'b', 'c', 1, 1)`,
    /1 kept answers of a session that does not exist/,
  ],
]
const FIRST = 'SELECT min(id) FROM passage'
const BREAK_KNOWLEDGE: [sql: string, what: RegExp][] = [
  [`DELETE FROM passage WHERE id = (${FIRST})`, /1 documents of which passages are missing/],
  [`DELETE FROM passage WHERE id = (${FIRST})`, /1 indexed passages that are not there/],
  [`UPDATE passage SET document = 9999999 WHERE id = (${FIRST})`, /1 passages of no document/],
  [`UPDATE passage SET text = 'Something else.' WHERE id = (${FIRST})`, /1 passages that are indexed under other words/],
  [`DELETE FROM post WHERE key = 'ewalnut'`, /1 passages that are indexed under other words/],
  [`UPDATE post SET last = 999 WHERE key = 'ewalnut'`, /1 lists that cannot be read/],
  [`DELETE FROM segment WHERE number = (SELECT number FROM segment ORDER BY n DESC LIMIT 1)`, /\d passages that are not indexed/],
  [`UPDATE word SET df = df + 1 WHERE word = 'walnut'`, /1 words that are counted wrongly/],
  [`DELETE FROM word WHERE word = 'walnut'`, /1 words that are not counted/],
  [`UPDATE document SET work = 'read' WHERE number = (SELECT min(number) FROM document)`, /1 documents that wait to be read/],
  [`INSERT INTO content (document, content) VALUES (9999999, x'00')`, /1 contents of no document/],
  [
    `INSERT INTO vector_space (number, model) VALUES (1, 'a/b'); INSERT INTO vector (key, code) VALUES (1099512627775, x'00')`,
    /1 vectors of no passage/,
  ],
]

for (const engine of ['embedded', 'PostgreSQL'] as const)
  describe(`check of the ${engine} store`, () => {
    test('says that all is sound while the service works, and finds whatever was broken', async (t) => {
      const url = engine === 'embedded' ? '' : await newDatabase()
      const service = await startService({ REPARTEE_DATABASE_URL: url })
      t.after(async () => {
        await service.stop()
        if (url !== '') await dropDatabase(url)
      })
      const { client } = service
      const place = url === '' ? { REPARTEE_DATA: service.data } : { REPARTEE_DATABASE_URL: url }
      const check = () => repartee(['check'], place)

      const agent = await service.newAgent({ name: 'checked' })
      const session = await service.newSession(agent, { name: 'talk' })
      const documents = `/agents/${agent}/documents`
      const texts = ['walnut', 'hazel', 'ein Nußbaum', '胡桃の木が庭にあります。'].map(
        (word) => `# About ${word}\n\nOne ${word} grows there.`,
      )
      for (const markdown of [...texts, 'Only for a while.']) isOk(await client.post(documents, { markdown }), 202)
      await until('all are ready', async () => (await client.get(`${documents}?status=ready`)).body.pagination.total === 5)
      const { documents: all } = (await client.get(documents)).body
      isOk(await client.delete(`${documents}/${all[0].id}`))
      isOk(await client.patch(`${documents}/${all[1].id}`, { title: 'Renamed' }))
      const { body } = await client.post(`${session}/messages`, { message: 'Hello' })
      isOk(await client.post(`${session}/messages/${body.aiMessage.id}/regenerate`, {}))
      isOk(await client.post(`${session}/messages`, { message: 'Hello again' }))
      await service.newSession(agent)

      let isOver = false
      const busy = (async () => {
        for (let i = 0; !isOver; i++) {
          const passing = await service.newSession(agent)
          isOk(await client.post(`${passing}/messages`, { message: 'Hello' }))
          isOk(await client.post(documents, { markdown: `Document ${i} of many.` }), 202)
          if (i % 2 === 0) isOk(await client.delete(passing))
          const other = await service.newAgent()
          isOk(await client.post(`/agents/${other}/documents`, { markdown: 'Soon gone.' }), 202)
          isOk(await client.delete(`/agents/${other}`))
        }
      })()
      for (let i = 0; i < 3; i++) {
        const { code, stdout, stderr } = await check()
        assert.equal(code, 0, stdout + stderr)
        assert.match(stdout, /^All conversations and \d+ knowledge bases? are sound\.$/m)
      }
      isOver = true
      await busy
      await until('all is indexed', async () => {
        const { pagination } = (await client.get(documents)).body
        return (await client.get(`${documents}?status=ready`)).body.pagination.total === pagination.total
      })
      await service.end('SIGTERM')

      if (engine === 'embedded') {
        const saved = join(mkdtempSync(join(tmpdir(), 'repartee-check-')), 'saved')
        t.after(() => rmSync(join(saved, '..'), { recursive: true }))
        assert.equal((await repartee(['backup', saved], place)).code, 0)
        const broken = async (sql: string, what: RegExp, breakIt: (folder: string) => unknown) => {
          const folder = `${saved}-${Math.random()}`
          cpSync(saved, folder, { recursive: true })
          await breakIt(folder)
          const { problems } = await checkAll({ folder }, () => {})
          assert.match(problems.map(({ count, what, example }) => `${count} ${what}, such as ${example}`).join('\n'), what, sql)
        }
        for (const [sql, what] of BREAK_CONVERSATIONS)
          await broken(sql, what, (folder) => storeOf({ ...service, data: folder, database: undefined }).run(sql))
        for (const [sql, what] of BREAK_KNOWLEDGE)
          await broken(sql, what, (folder) => {
            const file = KnowledgeFile.openToWrite(join(folder, 'knowledge', `${agent}.db`))
            for (const statement of sql.split('; ')) file.run(statement)
            file.close()
          })
        await broken('damage', /1 damaged files, such as repartee\.db/, (folder) =>
          writeFileSync(join(folder, 'repartee.db'), Buffer.alloc(8_192, 'SQLite format 3\0')),
        )
        await broken('no bytes', /1 damaged files, such as knowledge.*: it is empty/, (folder) => {
          const path = join(folder, 'knowledge', `${agent}.db`)
          truncateSync(path)
          utimesSync(path, 0, 0)
        })
        return
      }
      const [[ofConversations, what], [ofKnowledge, whatElse]] = [BREAK_CONVERSATIONS[0]!, BREAK_KNOWLEDGE[4]!]
      for (const [sql, found] of [
        [ofConversations, what],
        [ofKnowledge.replace('FROM post WHERE', `FROM knowledge_post WHERE agent_id = '${agent}' AND`), whatElse],
      ] as const) {
        await query(url, sql)
        const { code, stdout } = await check()
        assert.equal(code, 1, sql)
        assert.match(stdout, found)
      }
    })
  })
