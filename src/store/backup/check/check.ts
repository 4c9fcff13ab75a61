import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { KnowledgeStore } from '../../knowledge/base.ts'
import { KnowledgeFolder } from '../../knowledge/folder.ts'
import { PostgresKnowledge } from '../../knowledge/postgres/postgres-knowledge.ts'
import type { ReportProgress } from '../../progress.ts'
import { quickCheck } from '../../sqlite/quick-check.ts'
import { MAIN } from '../../sqlite/sqlite-database.ts'
import { lookIntoFolder } from '../move/folder-place.ts'
import { MoveError, type MoveSide } from '../move/place.ts'
import { openPostgresSnapshot } from '../move/postgres-place.ts'
import { checkConversations, listStrays, type Problem } from './check-conversations.ts'
import { checkKnowledge } from './check-knowledge.ts'

export interface Checked {
  /** Number of knowledge bases that were checked. */
  bases: number
  problems: Problem[]
}

/** Location of the data. */
export type Checkable = { folder: string } | { url: string; pooler: boolean }

/** Checks all data, in use or not, and changes nothing. Throws `MoveError` if there is nothing to read. */
export async function check(data: Checkable, tell: ReportProgress): Promise<Checked> {
  if ('folder' in data && !existsSync(join(data.folder, MAIN)))
    throw new MoveError(`${data.folder} holds no data: REPARTEE_DATA names the data folder`)
  const damaged = 'folder' in data ? readThrough(data.folder, tell) : []
  if (damaged.length > 0) return { bases: 0, problems: damaged }
  const place = await open(data)
  const knowledge =
    'folder' in data ? new KnowledgeFolder(join(data.folder, 'knowledge')) : new PostgresKnowledge({ ...data, holder: 'check' })
  try {
    tell('conversations', 0, 1)
    const problems = await checkConversations(place)
    const strays = await findStrays(data, place)
    if (strays.length > 0) problems.push({ what: STRAYS, count: strays.length, example: strays[0]! })
    const bases = await place.listBases()
    for (const [i, agentId] of bases.entries()) {
      tell('knowledge bases', i, bases.length)
      for (const problem of checkBase(knowledge, agentId)) problems.push(problem)
    }
    return { bases: bases.length, problems }
  } finally {
    knowledge.close()
    await place.close()
  }
}

function checkBase(knowledge: KnowledgeStore, agentId: string): Problem[] {
  try {
    const base = knowledge.openToRead(agentId)
    if (base === undefined) return []
    try {
      return checkKnowledge(base).map((problem) => ({ ...problem, example: `${agentId}: ${problem.example}` }))
    } finally {
      base.close()
    }
  } catch (error) {
    // The base was deleted during the check and cannot be read.
    if (knowledge.openToRead(agentId) === undefined) return []
    throw error
  }
}

const open = async (data: Checkable): Promise<MoveSide> =>
  'folder' in data ? lookIntoFolder(data.folder) : await openPostgresSnapshot(data.url)

const STRAYS = 'knowledge bases of an agent that does not exist'
/** By then a service has removed the base of a deleted agent, and the agent of a new base is visible. */
const LOOK_AGAIN_MS = 3_000

async function findStrays(data: Checkable, place: MoveSide): Promise<string[]> {
  const first = await listStrays(place)
  if (first.length === 0) return []
  await pause(LOOK_AGAIN_MS)
  const later = await open(data)
  const second = new Set(await listStrays(later).finally(() => later.close()))
  return first.filter((agentId) => second.has(agentId))
}

const EMPTY = 'it is empty; bring it back from a backup, or delete it if its agent never had documents'

/** A service that uses the folder fills a new file sooner. */
const NEW_MS = 10_000

/** SQLite takes a file of 0 bytes for a database without tables, and reports no damage. */
function isEmpty(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false })
  return file?.size === 0 && Date.now() - file.mtimeMs > NEW_MS
}

function readThrough(folder: string, tell: ReportProgress): Problem[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path.endsWith('.db'))
  return files.flatMap((path, i) => {
    const name = relative(folder, path)
    tell('pages of the files', i, files.length)
    const damage = isEmpty(path) ? EMPTY : quickCheck(path)
    return damage === undefined || !existsSync(path) ? [] : [{ what: 'damaged files', count: 1, example: `${name}: ${damage}` }]
  })
}
