import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import type { ReportProgress } from '../progress.ts'
import { quickCheck } from '../sqlite/quick-check.ts'
import { MAIN } from '../sqlite/sqlite-database.ts'
import { openFrozenFolder, openNewFolder } from './move/folder-place.ts'
import { move } from './move/move.ts'
import { checkUnused, openNewPostgres, openPostgresSnapshot } from './move/postgres-place.ts'

/** Written last: a backup without it is incomplete. */
const MANIFEST = 'backup.json'
const FORMAT = 1
/** Copies in one step: concurrent writes do not make it start again. */
const ALL_PAGES = 2_147_483_647

export interface BackedUpFile {
  /** Relative to the folder. */
  path: string
  bytes: number
  sha256: string
}

interface Manifest {
  format: number
  createdAt: string
  files: BackedUpFile[]
}

/** An error that the user can fix. The message says how. */
export class BackupError extends Error {}

export const holdsData = (folder: string): boolean => existsSync(join(folder, MAIN))

/**
 * Copies a data folder, in use or not, into a new one. Each database is copied as a snapshot, and each copy is checked.
 * The database that names the agents comes first: data of agents that were added since is dropped at the next start.
 */
export async function backUp(data: string, target: string, tell: ReportProgress): Promise<BackedUpFile[]> {
  if (!holdsData(data)) throw new BackupError(`${data} holds no data: REPARTEE_DATA names the data folder`)
  if (relative(data, target).split(sep)[0] !== '..')
    throw new BackupError(`${target} is in the data folder, and would be part of the next backup`)
  makeTarget(target)
  const files: BackedUpFile[] = []
  const names = [MAIN, ...othersIn(data)]
  const sizes = names.map((path) => statSync(join(data, path), { throwIfNoEntry: false })?.size ?? 0)
  for (const [i, path] of names.entries()) {
    tell(`copying ${path}`, sum(sizes.slice(0, i)), sum(sizes))
    mkdirSync(dirname(join(target, path)), { recursive: true })
    const [from, to] = [join(data, path), join(target, path)]
    try {
      if (path.endsWith('.db')) await copyDatabase(from, to)
      else copyFileSync(from, to)
    } catch (error) {
      // Deleted since the folder was listed.
      if (!existsSync(from)) continue
      throw error
    }
    const damage = path.endsWith('.db') ? quickCheck(to) : undefined
    if (damage !== undefined) throw new BackupError(`${from} is damaged: ${damage}`)
    files.push({ path, ...(await measure(to)) })
  }
  writeManifest(target, files)
  return files
}

/** Copies a snapshot of a database, in use or not, into a new folder in the format of `backUp`. */
export async function backUpDatabase(url: string, target: string, tell: ReportProgress): Promise<BackedUpFile[]> {
  makeTarget(target)
  const from = await openPostgresSnapshot(url)
  try {
    await move(from, openNewFolder(target), tell)
  } finally {
    await from.close()
  }
  rmSync(join(target, 'lock'))
  const files: BackedUpFile[] = []
  for (const path of [MAIN, ...othersIn(target)]) files.push({ path, ...(await measure(join(target, path))) })
  writeManifest(target, files)
  return files
}

function makeTarget(target: string): void {
  if (existsSync(target) && readdirSync(target).length > 0) throw new BackupError(`${target} is not empty`)
  mkdirSync(target, { recursive: true, mode: 0o700 })
}

function writeManifest(target: string, files: BackedUpFile[]): void {
  const manifest: Manifest = { format: FORMAT, createdAt: new Date().toISOString(), files }
  writeFileSync(join(target, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Files of one process: the lock and the address of the running service. Also the files that accompany a database file. */
const LEFT_OUT = /^(lock|local\.json|backup\.json)|-(wal|shm|journal)$/

function othersIn(data: string): string[] {
  const paths: string[] = []
  for (const entry of readdirSync(data, { recursive: true, withFileTypes: true })) {
    const path = relative(data, join(entry.parentPath, entry.name))
    if (path === MAIN || LEFT_OUT.test(path) || (entry.isDirectory() && !path.endsWith('.db'))) continue
    if (!entry.isFile())
      throw new BackupError(
        `${join(data, path)} is no file, and would be missing from the backup: put the file itself in its place`,
      )
    paths.push(path)
  }
  return paths.sort()
}

/** Returns databases and their logs as relative paths. */
function databaseFilesIn(data: string): string[] {
  const names = (folder: string) =>
    (existsSync(join(data, folder)) ? readdirSync(join(data, folder)) : []).map((name) => join(folder, name))
  return [...names('.'), ...names('knowledge')].filter((path) => /\.db(-wal|-shm|-journal)?$/.test(path))
}

async function copyDatabase(from: string, to: string): Promise<void> {
  const db = new DatabaseSync(from, { readOnly: true })
  try {
    db.exec('PRAGMA busy_timeout = 10000')
    await backup(db, to, { rate: ALL_PAGES })
  } finally {
    db.close()
  }
}

async function measure(path: string): Promise<Pick<BackedUpFile, 'bytes' | 'sha256'>> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return { bytes: statSync(path).size, sha256: hash.digest('hex') }
}

/** Restores a backup into a data folder without data, after all of it is verified. This process must own the folder. */
export async function restore(source: string, data: string, tell: ReportProgress): Promise<BackedUpFile[]> {
  if (holdsData(data))
    throw new BackupError(`${data} holds data already: name another folder by REPARTEE_DATA, or move that one away`)
  const files = await verifyAll(source, tell)
  const known = new Set(files.map(({ path }) => path))
  const left = databaseFilesIn(data).find((path) => !known.has(path))
  // SQLite would write an old log into the restored file, and a restored agent would find documents of another time.
  if (left !== undefined)
    throw new BackupError(
      `${join(data, left)} belongs to a database that is missing: empty the folder, or name another one by REPARTEE_DATA`,
    )
  // The main file, which marks a folder as having data, comes last: an interrupted restore can be repeated.
  for (const [i, { path }] of files.toSorted((a, b) => Number(a.path === MAIN) - Number(b.path === MAIN)).entries()) {
    tell(`copying ${path}`, i, files.length)
    mkdirSync(dirname(join(data, path)), { recursive: true, mode: 0o700 })
    copyFileSync(join(source, path), join(data, `${path}.part`))
    // The copy has the mode of the backup, which may be readable by everyone.
    chmodSync(join(data, `${path}.part`), 0o600)
    renameSync(join(data, `${path}.part`), join(data, path))
  }
  return files
}

/** Restores a backup into an empty database. After an interruption, the next call continues. */
export async function restoreDatabase(source: string, url: string, tell: ReportProgress): Promise<BackedUpFile[]> {
  await checkUnused(url)
  const files = await verifyAll(source, tell)
  const from = openFrozenFolder(source)
  try {
    const to = await openNewPostgres(url, source)
    try {
      await move(from, to, tell)
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
  return files
}

async function verifyAll(source: string, tell: ReportProgress): Promise<BackedUpFile[]> {
  const { files } = readManifest(source)
  const sizes = files.map(({ bytes }) => bytes)
  for (const [i, file] of files.entries()) {
    tell(`comparing ${file.path}`, sum(sizes.slice(0, i)), sum(sizes))
    await verify(source, file)
  }
  return files
}

const sum = (numbers: number[]): number => numbers.reduce((total, n) => total + n, 0)

function readManifest(source: string): Manifest {
  let manifest: Manifest
  try {
    manifest = JSON.parse(readFileSync(join(source, MANIFEST), 'utf8')) as Manifest
  } catch {
    throw new BackupError(`${source} is not a whole backup: it has no ${MANIFEST}`)
  }
  if (manifest?.format !== FORMAT)
    throw new BackupError(`${source} was made by another version of Repartee: restore it with that one`)
  return manifest
}

async function verify(source: string, { path, bytes, sha256 }: BackedUpFile): Promise<void> {
  const full = join(source, path)
  if (isAbsolute(path) || path.split(/[\\/]/).includes('..') || LEFT_OUT.test(path))
    throw new BackupError(`${path} is no file of a backup: it would not be restored into the data folder alone`)
  if (!existsSync(full)) throw new BackupError(`${path} is missing from the backup`)
  if (!lstatSync(full).isFile() || realpathSync(full) !== join(realpathSync(source), path))
    throw new BackupError(`${path} is not a file in the backup, but a link or a folder`)
  const found = await measure(full)
  if (found.bytes !== bytes || found.sha256 !== sha256) throw new BackupError(`${path} is not what was backed up`)
}
