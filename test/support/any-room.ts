import type { FairRoomParts } from '../../src/knowledge/ingest/fair-room.ts'
import { Owners } from '../../src/knowledge/ingest/owners.ts'

/** Room for all documents, in which the agent that came first is the next. */
export const anyRoom: Omit<FairRoomParts, 'held'> = {
  most: Number.MAX_SAFE_INTEGER,
  owners: new Owners(),
  next: ([first]) => first,
  wake: () => {},
}
