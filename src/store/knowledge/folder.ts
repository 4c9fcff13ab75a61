import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KnowledgeStore } from './base.ts'
import { KnowledgeFile } from './file.ts'

const FILE = '.db'
/** Suffix of the empty file that marks an agent with pending work, so that a start opens only these agents' bases. */
const PENDING = '.pending'
/** Name of the file with the version of the rules by which all bases were read. */
const READING = 'reading'
/** Suffix of the file with the next sync time of an agent's sites. */
const DUE = '.due'

/** Knowledge bases as files in one folder, which is created if missing. */
export class KnowledgeFolder implements KnowledgeStore {
  readonly #folder: string
  readonly #held = new Set<string>()
  readonly isShared = false

  constructor(folder: string) {
    this.#folder = folder
  }

  openToWrite(agentId: string): KnowledgeFile {
    return KnowledgeFile.openToWrite(this.#path(agentId, FILE))
  }

  openToRead(agentId: string): KnowledgeFile | undefined {
    return KnowledgeFile.openToRead(this.#path(agentId, FILE))
  }

  remove(agentId: string): void {
    KnowledgeFile.remove(this.#path(agentId, FILE))
  }

  removeSome(): boolean {
    return false
  }

  list(): { known: string[]; pending: string[] } {
    mkdirSync(this.#folder, { recursive: true })
    const names = readdirSync(this.#folder)
    const ending = (end: string): string[] => names.filter((name) => name.endsWith(end)).map((name) => name.slice(0, -end.length))
    return { known: ending(FILE), pending: ending(PENDING) }
  }

  /** Opens no base: each base stores whether it is outdated (see `isOutdated`). */
  listOutdated(reading: number): string[] {
    const path = join(this.#folder, READING)
    return existsSync(path) && Number(readFileSync(path, 'utf8')) >= reading ? [] : this.list().known
  }

  endOutdated(reading: number): void {
    writeFileSync(join(this.#folder, READING), String(reading))
  }

  markPending(agentId: string): void {
    writeFileSync(this.#path(agentId, PENDING), '')
    const handle = openSync(this.#folder, 'r')
    fsyncSync(handle)
    closeSync(handle)
  }

  unmarkPending(agentId: string): boolean {
    rmSync(this.#path(agentId, PENDING), { force: true })
    this.#held.delete(agentId)
    return true
  }

  keepHeld(): void {}

  claimEmbedding(): boolean {
    return true
  }

  endEmbedding(): void {}

  listForsaken(): string[] {
    return []
  }

  hold(agentId: string): 'taken' | 'kept' {
    const isKept = this.#held.has(agentId)
    this.#held.add(agentId)
    return isKept ? 'kept' : 'taken'
  }

  listDue(): Map<string, number> {
    const due = new Map<string, number>()
    for (const name of readdirSync(this.#folder).filter((name) => name.endsWith(DUE))) {
      const at = Number(readFileSync(join(this.#folder, name), 'utf8'))
      // A crash can leave a half-written file. With 0 the agent is checked at once, and then its time is known.
      due.set(name.slice(0, -DUE.length), Number.isFinite(at) ? at : 0)
    }
    return due
  }

  markDue(agentId: string, at: number | null): void {
    const path = this.#path(agentId, DUE)
    if (at === null) rmSync(path, { force: true })
    else writeFileSync(path, String(at))
  }

  /** Returns nothing: the service looks for orphans when it starts. */
  listOrphans(): string[] {
    return []
  }

  close(): void {}

  #path(agentId: string, end: string): string {
    return join(this.#folder, agentId + end)
  }
}
