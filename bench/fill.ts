import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentBook } from '../src/chat/agent-book.ts'
import { createAgent } from '../src/chat/agents.ts'
import type { Deps } from '../src/chat/deps.ts'
import { newId } from '../src/core/ids.ts'
import { type Cell, CONVERSATIONS, type Target } from '../src/store/move/place.ts'
import { SHARDS } from '../src/store/sessions.ts'
import { SqliteDatabase } from '../src/store/sqlite.ts'

export interface Size {
  agents: number
  /** Of all agents; one tenth of them are the first one's. */
  sessions: number
  /** Of all sessions, as many in each. */
  messages: number
}

/** What is measured, in what was filled. */
export interface Filled {
  /** The one with the most sessions. */
  agentId: string
  /** Some of its sessions. */
  sessionIds: string[]
}

const SOME = 2_000
const ROWS = 5_000
const WORDS = 'the a lamp street light burns when night falls over every town and nobody asks who pays for its oil'.split(' ')
/** Some 90 characters. */
const text = (n: number): string =>
  Array.from({ length: 17 }, (_, i) => WORDS[(n * 7 + i * i * (n % 13)) % WORDS.length]).join(' ')

/** Fills a new place with conversations, in the order of their keys, and makes it ready for a service. */
export async function fill(target: Target, { agents, sessions, messages }: Size, tell = (_text: string) => {}): Promise<Filled> {
  const settings = await settingsOfAgent()
  const now = Date.now()
  const agentIds = Array.from({ length: agents }, newId).sort()
  const [agentTable, , countTable, sessionTable, messageTable] = CONVERSATIONS
  const writer = async (table: (typeof CONVERSATIONS)[number]) => {
    const columns = await target.columns(table, undefined)
    let rows: Cell[][] = []
    const flush = async () => {
      await target.write(table, undefined, columns, rows)
      rows = []
    }
    return {
      flush,
      async put(row: Record<string, Cell>) {
        if (rows.push(columns.map((column) => row[column] ?? null)) === ROWS) await flush()
      },
    }
  }
  const [agentRows, countRows, sessionRows, messageRows] = await Promise.all(
    [agentTable!, countTable!, sessionTable!, messageTable!].map(writer),
  )
  for (const [i, id] of agentIds.entries())
    await agentRows!.put({ id, name: `Agent ${i}`, settings, created_at: now + i, updated_at: now + i })
  await agentRows!.flush()
  const each = Math.floor(messages / sessions)
  const filled: Filled = { agentId: agentIds[0]!, sessionIds: [] }
  let done = 0
  for (const [i, agentId] of agentIds.entries()) {
    const count = i === 0 && agents > 1 ? Math.floor(sessions / 10) : Math.floor((sessions - done) / (agents - i))
    const ids = Array.from({ length: count }, newId).sort()
    if (i === 0) filled.sessionIds = ids.filter((_, n) => n % Math.ceil(count / SOME) === 0)
    for (let shard = 0; shard < SHARDS; shard++)
      await countRows!.put({ agent_id: agentId, shard, sessions: shard === 0 ? count : 0 })
    for (const [n, id] of ids.entries()) {
      const at = now - (count - n) * 1_000
      const own = { message_count: each, last_message_at: at, created_at: at, updated_at: at }
      await sessionRows!.put({ agent_id: agentId, id, name: `Session ${n}`, user_id: newId(), ...own })
      for (let seq = 1; seq <= each; seq++) {
        const [role, turn] = seq % 2 === 1 ? ['USER', 'done'] : ['AI', null]
        const said = { id: newId(), role, turn, content: text(done + seq), created_at: at }
        await messageRows!.put({ agent_id: agentId, session_id: id, seq, ...said } as Record<string, Cell>)
      }
      if (++done % 10_000 === 0) tell(`${done} sessions`)
    }
  }
  await countRows!.flush()
  await sessionRows!.flush()
  await messageRows!.flush()
  await target.finish()
  return filled
}

/** As the service writes them for an agent that needs no model. */
async function settingsOfAgent(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-fill-'))
  const db = new SqliteDatabase(folder)
  const parts = { db, agents: new AgentBook(db), models: { find: () => undefined }, clock: Date.now, newId }
  await createAgent({ ...parts, defaultModel: 'extractive' } as unknown as Deps, { name: 'Template' })
  const [row] = await db.read('SELECT settings FROM agent', [])
  await db.close()
  rmSync(folder, { recursive: true })
  return row!['settings'] as string
}
