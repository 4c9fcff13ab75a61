import { type Repartee, ReparteeError } from 'repartee-client'

export type Scope = 'admin' | 'chat' | 'read' | 'knowledge'

/** What a key may do. `admin` may do everything, and who may chat may read. */
export class Rights {
  readonly scopes: ReadonlySet<Scope>

  constructor(scopes: Iterable<Scope>) {
    this.scopes = new Set(scopes)
  }

  can(scope: Scope): boolean {
    return this.scopes.has('admin') || this.scopes.has(scope) || (scope === 'read' && this.scopes.has('chat'))
  }
}

/** No agent has it. */
const NOBODY = '00000000-0000-0000-0000-000000000000'

/**
 * What a key may do, found by trying: the service has no request that tells, but it looks at the scope before it looks whether an agent
 * exists. Nothing is changed by it. Throws what the service says of a key that is not good.
 */
export async function readRights(client: Repartee): Promise<Rights> {
  if (await may(() => client.models.list())) return new Rights(['admin'])
  const [chat, read, knowledge] = await Promise.all([
    may(() => client.sessions.create(NOBODY)),
    may(() => client.sessions.list(NOBODY, { limit: 1 })),
    may(() => client.documents.list(NOBODY, { limit: 1 })),
  ])
  const found: [Scope, boolean][] = [
    ['chat', chat],
    ['read', read && !chat],
    ['knowledge', knowledge],
  ]
  return new Rights(found.filter(([, has]) => has).map(([scope]) => scope))
}

async function may(attempt: () => Promise<unknown>): Promise<boolean> {
  try {
    await attempt()
    return true
  } catch (error) {
    if (!(error instanceof ReparteeError)) throw error
    if (error.status === 403) return false
    if (error.status === 404) return true
    throw error
  }
}
