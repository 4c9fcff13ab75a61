import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = '.db'
/** End of the name of an empty file that marks an agent with work to be done, so that a start opens only those. */
const PENDING = '.pending'

/** End of the name of a file that says when an agent's sites are next due, in milliseconds since 1970. */
const DUE = '.due'

/** Where the knowledge of an agent lies, in the folder of all. */
export const fileOf = (folder: string, agentId: string): string => join(folder, agentId + FILE)

/** The agents that have a file, and those that have work to be done. Makes the folder where there is none. */
export function listAgents(folder: string): { known: string[]; pending: string[] } {
  mkdirSync(folder, { recursive: true })
  const names = readdirSync(folder)
  const ending = (end: string): string[] => names.filter((name) => name.endsWith(end)).map((name) => name.slice(0, -end.length))
  return { known: ending(FILE), pending: ending(PENDING) }
}

/** On the disk when it returns, so that no crash leaves work without its mark. */
export function markPending(folder: string, agentId: string): void {
  writeFileSync(join(folder, agentId + PENDING), '')
  const handle = openSync(folder, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

/** When each agent's sites are next due. */
export function listDue(folder: string): Map<string, number> {
  const due = new Map<string, number>()
  for (const name of readdirSync(folder).filter((name) => name.endsWith(DUE))) {
    const at = Number(readFileSync(join(folder, name), 'utf8'))
    // Half written by a crash: looked at once, and then known.
    due.set(name.slice(0, -DUE.length), Number.isFinite(at) ? at : 0)
  }
  return due
}

export function markDue(folder: string, agentId: string, at: number | null): void {
  const path = join(folder, agentId + DUE)
  if (at === null) rmSync(path, { force: true })
  else writeFileSync(path, String(at))
}

export function unmarkPending(folder: string, agentId: string): void {
  rmSync(join(folder, agentId + PENDING), { force: true })
}
