import { type Database, statement } from '../database.ts'

/** What all processes together have taken, this one included, and when it counts from nothing again. */
export interface RateWindow {
  taken: number
  endsAt: number
}

const TAKE = `INSERT INTO rate_window AS w (id, ends_at, taken) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET
  taken = CASE WHEN w.ends_at > $4 AND w.ends_at <= $5 THEN w.taken + excluded.taken ELSE excluded.taken END,
  ends_at = CASE WHEN w.ends_at > $4 AND w.ends_at <= $5 THEN w.ends_at ELSE excluded.ends_at END RETURNING taken, ends_at`

export interface RateAsk {
  count: number
  now: number
  windowMs: number
  /** A window that ends later than so far from now is of a clock that was wrong. */
  farthestMs: number
}

/** Takes so many requests at once, of a window that is open or begins now and lasts `windowMs`. */
export async function takeFromWindow(
  db: Database,
  id: string,
  { count, now, windowMs, farthestMs }: RateAsk,
): Promise<RateWindow> {
  const [rows] = await db.write([statement(TAKE, id, now + windowMs, count, now, now + farthestMs)])
  const { taken, ends_at: endsAt } = rows![0] as { taken: number; ends_at: number }
  return { taken, endsAt }
}

export async function deleteWindowsBefore(db: Database, time: number): Promise<void> {
  await db.write([statement('DELETE FROM rate_window WHERE ends_at < $1', time)])
}
