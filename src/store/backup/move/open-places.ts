import { openFolder, openNewFolder } from './folder-place.ts'
import { isDatabase, type MoveSide, type Target } from './place.ts'
import { checkUnused, openNewPostgres, openPostgresSnapshot } from './postgres-place.ts'

/** Opens the source and the target: each a folder or a PostgreSQL address that no service uses. Throws `MoveError`. */
export async function openPlaces(from: string, to: string): Promise<{ from: MoveSide; to: Target; close(): Promise<void> }> {
  for (const place of [from, to]) if (isDatabase(place)) await checkUnused(place)
  const source = isDatabase(from) ? await openPostgresSnapshot(from) : openFolder(from)
  try {
    const target = isDatabase(to) ? await openNewPostgres(to, source.name) : openNewFolder(to)
    return { from: source, to: target, close: () => Promise.all([source.close(), target.close()]).then(() => {}) }
  } catch (error) {
    await source.close()
    throw error
  }
}
