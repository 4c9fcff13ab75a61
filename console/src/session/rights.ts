import type { Repartee, Scope } from 'repartee-client'

export type { Scope }

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

/** What a key may do. Throws what the service says of a key that is not good. */
export async function readRights(client: Repartee): Promise<Rights> {
  return new Rights((await client.keys.current()).key.scopes)
}
