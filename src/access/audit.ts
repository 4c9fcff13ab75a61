import { createHash } from 'node:crypto'
import { type AuditEntry, endAuditEntry, insertAuditEntry } from '../store/tables/audit.ts'
import type { AccessDeps } from './deps.ts'

type Act = Pick<AuditEntry, 'action' | 'keyId' | 'agentId' | 'target' | 'requestId' | 'address'>
type AuditDeps = Pick<AccessDeps, 'db' | 'clock' | 'newId'>

/** What an act came to. */
export interface ActEnd {
  status: number
  /** Where it was not known before: of something that was made. */
  target?: string | undefined
}

/**
 * Does something that is to be seen later: the entry is on the disk before it is begun, and what it came to behind it. Where the entry cannot be
 * written, nothing is done.
 */
export async function audited<T>(
  deps: AccessDeps,
  act: Act,
  work: () => Promise<T>,
  endOf: (outcome: { done: T } | { thrown: unknown }) => ActEnd,
): Promise<T> {
  const id = await begin(deps, act, null)
  const end = async (outcome: { done: T } | { thrown: unknown }) => {
    const { status, target = act.target } = endOf(outcome)
    await endAuditEntry(deps.db, id, status, target).catch((error: unknown) =>
      deps.warn('the end of an act could not be kept', error),
    )
  }
  try {
    const done = await work()
    await end({ done })
    return done
  } catch (thrown) {
    await end({ thrown })
    throw thrown
  }
}

/** Of an act that needs no key, because it is done where the data lies. */
export async function auditLocal(deps: AuditDeps, action: string, target: string): Promise<void> {
  await begin(deps, { action, target, keyId: null, agentId: null, requestId: null, address: null }, 201)
}

async function begin({ db, clock, newId }: AuditDeps, act: Act, status: number | null): Promise<string> {
  const id = newId()
  await insertAuditEntry(db, { ...act, id, at: clock(), status })
  return id
}

/** An end user as the log names one: whoever knows the id can find it, and nobody can read it there after it was erased. */
export const auditedUser = (agentId: string, userId: string): string =>
  `sha256:${createHash('sha256').update(`${agentId}/${userId}`).digest('hex')}`
