import { type Database, statement } from '../../database.ts'

/** Requests that all processes took from a window, and when the window ends. */
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
  /** A window that ends more milliseconds from now than this comes from a wrong clock. */
  farthestMs: number
}

/** Takes `count` requests from the open window, or from a new one of `windowMs`. */
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
