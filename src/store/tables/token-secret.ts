import { type Database, statement } from '../database.ts'

/** Stores the secret of this deployment if there is none yet. Resolves to the stored one, so processes that start at once all get the same. */
export async function keepTokenSecret(db: Database, secret: string): Promise<string> {
  const [kept] = await db.read('SELECT secret FROM token_secret', [])
  if (kept !== undefined) return kept.secret as string
  await db.write([statement('INSERT INTO token_secret (id, secret) VALUES (1, $1) ON CONFLICT DO NOTHING', secret)])
  const [row] = await db.read('SELECT secret FROM token_secret', [])
  return row!.secret as string
}
