import { createHash } from 'node:crypto'
import { type AuditEntry, endAuditEntry, insertAuditEntry } from '../store/tables/audit.ts'
import type { AccessDeps } from './deps.ts'

type Act = Pick<AuditEntry, 'action' | 'keyId' | 'agentId' | 'target' | 'requestId' | 'address'>
type AuditDeps = Pick<AccessDeps, 'db' | 'clock' | 'newId'>

/** The result of an audited operation. */
export interface ActEnd {
  status: number
  /** The id of a new object, unknown before the operation. */
  target?: string | undefined
}

/** Runs an operation with an audit entry: first the entry is stored, at the end its status. If the entry cannot be stored, the operation does not run. */
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

/** Records an operation without a key, made with direct access to the data. */
export async function auditLocal(deps: AuditDeps, action: string, target: string): Promise<void> {
  await begin(deps, { action, target, keyId: null, agentId: null, requestId: null, address: null }, 201)
}

async function begin({ db, clock, newId }: AuditDeps, act: Act, status: number | null): Promise<string> {
  const id = newId()
  await insertAuditEntry(db, { ...act, id, at: clock(), status })
  return id
}

/** Returns a hash that identifies an end user in the log. The log can be searched by a known id, but does not reveal the id of an erased user. */
export const auditedUser = (agentId: string, userId: string): string =>
  `sha256:${createHash('sha256').update(`${agentId}/${userId}`).digest('hex')}`
