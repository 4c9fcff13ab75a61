import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentCache } from '../src/agents/agent-cache.ts'
import { createAgent } from '../src/agents/agents.ts'
import { newId } from '../src/core/platform/ids.ts'
import type { Deps } from '../src/http/deps.ts'
import { type Cell, CONVERSATIONS, type Target } from '../src/store/backup/move/place.ts'
import { SqliteDatabase } from '../src/store/sqlite/sqlite-database.ts'
import { SHARDS } from '../src/store/tables/sessions.ts'

/** An agent with this many sessions, and this many messages in each. */
export interface AgentPlan {
  sessions: number
  messages: number
  /** Sessions of one user, spread over all sessions. Each other session has its own user. */
  ofOneUser?: number
}

/** The filled data that measurements use. */
export interface Filled {
  agentId: string
  /** Some of the sessions, spread evenly. */
  sessionIds: string[]
  /** Every hundredth message of the last session, in order. */
  messageIds: string[]
  /** The user with several sessions. */
  userId: string
}

const SOME = 2_000
const ROWS = 5_000
const WORDS = 'the a lamp street light burns when night falls over every town and nobody asks who pays for its oil'.split(' ')
/** Returns a text of about 90 characters. */
const text = (n: number): string =>
  Array.from({ length: 17 }, (_, i) => WORDS[(n * 7 + i * i * (n % 13)) % WORDS.length]).join(' ')

/**
 * Fills an empty store with conversations in key order and prepares it for a service.
 * Writes rows as a data move does, a hundred times as fast as requests could.
 */
export async function fill(target: Target, plans: readonly AgentPlan[], tell = (_text: string) => {}): Promise<Filled[]> {
  const settings = await settingsOfAgent()
  const now = Date.now()
  const agentIds = plans.map(() => newId()).sort()
  const [agentTable, , countTable, sessionTable, messageTable] = CONVERSATIONS
  const rowsOf = (table: (typeof CONVERSATIONS)[number] | undefined) => writer(target, table!)
  const [agentRows, countRows] = [await rowsOf(agentTable), await rowsOf(countTable)]
  const [sessionRows, messageRows] = [await rowsOf(sessionTable), await rowsOf(messageTable)]
  for (const [i, id] of agentIds.entries())
    await agentRows.put({ id, name: `Agent ${i}`, settings, created_at: now + i, updated_at: now + i })
  await agentRows.flush()
  let written = 0
  const fillAgent = async (agentId: string, { sessions, messages, ofOneUser = 0 }: AgentPlan): Promise<Filled> => {
    const ids = Array.from({ length: sessions }, newId).sort()
    const filled: Filled = { agentId, sessionIds: spread(ids, SOME), messageIds: [], userId: newId() }
    const own = new Set(spread(ids, ofOneUser))
    for (let shard = 0; shard < SHARDS; shard++)
      await countRows.put({ agent_id: agentId, shard, sessions: shard === 0 ? sessions : 0 })
    for (const [n, id] of ids.entries()) {
      const at = now - (sessions - n) * 1_000
      const times = { message_count: messages, last_message_at: at, created_at: at, updated_at: at }
      const userId = own.has(id) ? filled.userId : newId()
      await sessionRows.put({ agent_id: agentId, id, name: `Session ${n}`, user_id: userId, ...times })
      for (let seq = 1; seq <= messages; seq++) {
        const message = { id: newId(), ...(seq % 2 === 1 ? ASKED : REPLIED), content: text(n + seq), created_at: at }
        if (n === sessions - 1 && seq % Math.ceil(messages / 100) === 0) filled.messageIds.push(message.id)
        await messageRows.put({ agent_id: agentId, session_id: id, seq, ...message })
        if (++written % 250_000 === 0) tell(`${written.toLocaleString('en')} messages are written`)
      }
    }
    return filled
  }
  const all: Filled[] = []
  for (const [i, plan] of plans.entries()) all.push(await fillAgent(agentIds[i]!, plan))
  for (const rows of [countRows, sessionRows, messageRows]) await rows.flush()
  await target.finish()
  return all
}

const ASKED = { role: 'USER', turn: 'done' }
const REPLIED = { role: 'AI', turn: null }

/** Returns `count` items, spread evenly over the list. */
const spread = <T>(list: readonly T[], count: number): T[] =>
  Array.from(
    { length: Math.min(count, list.length) },
    (_, i) => list[Math.floor((i * list.length) / Math.min(count, list.length))]!,
  )

async function writer(target: Target, table: (typeof CONVERSATIONS)[number]) {
  const columns = await target.columns(table, undefined)
  let rows: Cell[][] = []
  const flush = async () => {
    if (rows.length > 0) await target.write(table, undefined, columns, rows)
    rows = []
  }
  return {
    flush,
    async put(row: Record<string, Cell>) {
      if (rows.push(columns.map((column) => row[column] ?? null)) === ROWS) await flush()
    },
  }
}

/** Returns the settings that the service stores for an agent with a configured model. */
async function settingsOfAgent(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-fill-'))
  const db = new SqliteDatabase(folder)
  const models = { find: () => ({}) }
  const parts = { db, agents: new AgentCache(db), models, clock: Date.now, newId }
  await createAgent({ ...parts, defaultModel: 'extractive' } as unknown as Deps, { name: 'Template', model: 'openai/short' })
  const [row] = await db.read('SELECT settings FROM agent', [])
  await db.close()
  rmSync(folder, { recursive: true })
  return row!['settings'] as string
}
