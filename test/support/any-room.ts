import type { FairRoomParts } from '../../src/knowledge/ingest/fair-room.ts'
import { Owners } from '../../src/knowledge/ingest/owners.ts'

/** Unlimited room for documents; the first agent is always next. */
export const anyRoom: Omit<FairRoomParts, 'held'> = {
  most: Number.MAX_SAFE_INTEGER,
  owners: new Owners(),
  next: ([first]) => first,
  wake: () => {},
}
