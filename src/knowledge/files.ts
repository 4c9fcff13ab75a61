import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = '.db'
/** End of the name of an empty file that marks an agent with work to be done, so that a start opens only those. */
const PENDING = '.pending'

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

export function unmarkPending(folder: string, agentId: string): void {
  rmSync(join(folder, agentId + PENDING), { force: true })
}
