import type { Repartee, Scope } from 'repartee-client'

export type { Scope }

/** The scopes of a key. `admin` includes all scopes, and `chat` includes `read`. */
export class Rights {
  readonly scopes: ReadonlySet<Scope>

  constructor(scopes: Iterable<Scope>) {
    this.scopes = new Set(scopes)
  }

  can(scope: Scope): boolean {
    return this.scopes.has('admin') || this.scopes.has(scope) || (scope === 'read' && this.scopes.has('chat'))
  }
}

/** Reads the scopes of a key. Throws the error of the service if the key is invalid. */
export async function readRights(client: Repartee): Promise<Rights> {
  return new Rights((await client.keys.current()).key.scopes)
}
