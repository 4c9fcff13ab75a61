import { type Database, statement } from './database.ts'

/** What all processes together have taken, this one included, and when it counts from nothing again. */
export interface RateWindow {
  taken: number
  endsAt: number
}

const TAKE = `INSERT INTO rate_window AS w (id, ends_at, taken) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET
  taken = CASE WHEN w.ends_at <= $4 THEN excluded.taken ELSE w.taken + excluded.taken END,
  ends_at = CASE WHEN w.ends_at <= $4 THEN excluded.ends_at ELSE w.ends_at END RETURNING taken, ends_at`

/** Takes so many requests at once, of a window that is open or begins now and lasts `windowMs`. */
export async function takeFromWindow(
  db: Database,
  id: string,
  { count, now, windowMs }: { count: number; now: number; windowMs: number },
): Promise<RateWindow> {
  const [rows] = await db.write([statement(TAKE, id, now + windowMs, count, now)])
  const { taken, ends_at: endsAt } = rows![0] as { taken: number; ends_at: number }
  return { taken, endsAt }
}

export async function deleteWindowsBefore(db: Database, time: number): Promise<void> {
  await db.write([statement('DELETE FROM rate_window WHERE ends_at < $1', time)])
}
