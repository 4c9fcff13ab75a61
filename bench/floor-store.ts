// The floor's store: the minimal statements, written by hand for both engines.
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

export interface Said {
  id: string
  role: string
  content: string
  createdAt: string
}

export interface Talk {
  id: string
  agent: string
  user: string
  name: string
  createdAt: string
}

/** `number` and `total` come from the row. */
export interface Known {
  number: number
  name: string
  total: number
}

export interface FloorStore {
  create(talk: Talk): Promise<unknown>
  list(agent: string): Promise<object[]> | object[]
  find(agent: string, id: string): Promise<Known | undefined> | Known | undefined
  newest(talk: Known, count: number): Promise<Said[]> | Said[]
  page(talk: Known, after: string | undefined, count: number): Promise<Said[]> | Said[]
  append(talk: Known, said: [Said, Said]): Promise<unknown>
}

const LISTED = `id, name, owner AS "userSessionId", total AS "totalMessages", last_at AS "lastMessageAt", created_at AS "createdAt"`
const SHOWN = `id, role, content, created_at AS "createdAt"`

/** Opens the SQLite store. Every commit is on disk before its response. Writes of one event loop turn share a commit. */
export function openSqliteFloor(path: string): FloorStore {
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;
    CREATE TABLE session (number INTEGER PRIMARY KEY, id TEXT UNIQUE, agent TEXT, owner TEXT, name TEXT, created_at TEXT, last_at TEXT, total INTEGER);
    CREATE INDEX session_agent ON session (agent, number);
    CREATE INDEX session_owner ON session (agent, owner, number);
    CREATE TABLE message (number INTEGER PRIMARY KEY, session INTEGER, id TEXT UNIQUE, role TEXT, content TEXT, created_at TEXT);
    CREATE INDEX message_session ON message (session, number);`)
  const [begin, commit] = [db.prepare('BEGIN'), db.prepare('COMMIT')]
  const addTalk = db.prepare('INSERT INTO session VALUES (NULL, ?, ?, ?, ?, ?, ?, 0)')
  const addSaid = db.prepare('INSERT INTO message VALUES (NULL, ?, ?, ?, ?, ?)')
  const touch = db.prepare('UPDATE session SET total = total + 2, last_at = ? WHERE number = ?')
  const list = db.prepare(`SELECT ${LISTED} FROM session WHERE agent = ? ORDER BY number DESC`)
  const find = db.prepare('SELECT number, name, total FROM session WHERE id = ? AND agent = ?')
  const newest = db.prepare(`SELECT ${SHOWN} FROM message WHERE session = ? ORDER BY number DESC LIMIT ?`)
  const place = db.prepare('SELECT number FROM message WHERE id = ?')
  const page = db.prepare(`SELECT ${SHOWN} FROM message WHERE session = ? AND number > ? ORDER BY number LIMIT ?`)
  let waiting: { work: () => void; done: (value?: unknown) => void }[] = []
  const together = () => {
    const jobs = waiting
    waiting = []
    begin.run()
    for (const { work } of jobs) work()
    commit.run()
    for (const { done } of jobs) done()
  }
  const write = (work: () => void) =>
    new Promise((done) => {
      if (waiting.push({ work, done }) === 1) setImmediate(together)
    })
  return {
    create: (talk) => write(() => addTalk.run(talk.id, talk.agent, talk.user, talk.name, talk.createdAt, talk.createdAt)),
    list: (agent) => list.all(agent),
    find: (agent, id) => find.get(id, agent) as Known | undefined,
    newest: (talk, count) => newest.all(talk.number, count) as unknown as Said[],
    page: (talk, after, count) =>
      page.all(talk.number, after === undefined ? 0 : (place.get(after)!['number'] as number), count) as unknown as Said[],
    append: (talk, said) =>
      write(() => {
        for (const { id, role, content, createdAt } of said) addSaid.run(talk.number, id, role, content, createdAt)
        touch.run(said[1].createdAt, talk.number)
      }),
  }
}

/** Opens the PostgreSQL store. Each operation is one named statement: one transaction and one round trip. */
export async function openPostgresFloor(connectionString: string): Promise<FloorStore> {
  const pool = new pg.Pool({ connectionString, max: 10 })
  await pool.query(`
    CREATE TABLE session (number BIGSERIAL PRIMARY KEY, id UUID UNIQUE, agent UUID, owner UUID, name TEXT, created_at TIMESTAMPTZ(3), last_at TIMESTAMPTZ(3), total INTEGER);
    CREATE INDEX session_agent ON session (agent, number);
    CREATE INDEX session_owner ON session (agent, owner, number);
    CREATE TABLE message (number BIGSERIAL PRIMARY KEY, session BIGINT, id UUID UNIQUE, role TEXT, content TEXT, created_at TIMESTAMPTZ(3));
    CREATE INDEX message_session ON message (session, number);`)
  // biome-ignore lint/suspicious/noExplicitAny: rows of any statement
  const run = async (name: string, text: string, values: unknown[]): Promise<any[]> =>
    (await pool.query({ name, text, values })).rows
  return {
    create: (talk) =>
      run(
        'create',
        'INSERT INTO session (id, agent, owner, name, created_at, last_at, total) VALUES ($1, $2, $3, $4, $5, $5, 0)',
        [talk.id, talk.agent, talk.user, talk.name, talk.createdAt],
      ),
    list: (agent) => run('list', `SELECT ${LISTED} FROM session WHERE agent = $1 ORDER BY number DESC`, [agent]),
    find: async (agent, id) =>
      (await run('find', 'SELECT number, name, total FROM session WHERE id = $1 AND agent = $2', [id, agent]))[0],
    newest: (talk, count) =>
      run('newest', `SELECT ${SHOWN} FROM message WHERE session = $1 ORDER BY number DESC LIMIT $2`, [talk.number, count]),
    page: (talk, after, count) =>
      run(
        'page',
        `SELECT ${SHOWN} FROM message WHERE session = $1 AND number > coalesce((SELECT number FROM message WHERE id = $2), 0)
         ORDER BY number LIMIT $3`,
        [talk.number, after, count],
      ),
    append: (talk, [asked, replied]) =>
      run(
        'append',
        `WITH said AS (INSERT INTO message (session, id, role, content, created_at) VALUES ($1, $2, 'USER', $3, $4), ($1, $5, 'AI', $6, $7))
         UPDATE session SET total = total + 2, last_at = $7 WHERE number = $1`,
        [talk.number, asked.id, asked.content, asked.createdAt, replied.id, replied.content, replied.createdAt],
      ),
  }
}
