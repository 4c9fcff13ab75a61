import type { KnowledgeStore } from './base.ts'
import { KnowledgeFolder } from './folder.ts'
import { PostgresKnowledge, type PostgresKnowledgeOptions } from './postgres/postgres-knowledge.ts'

/** Where knowledge bases lie: in a folder of this process alone, or in a database that others share. */
export type KnowledgePlace = { folder: string } | { postgres: PostgresKnowledgeOptions }

/** For the thread that calls. */
export const openKnowledgeStore = (place: KnowledgePlace): KnowledgeStore =>
  'folder' in place ? new KnowledgeFolder(place.folder) : new PostgresKnowledge(place.postgres)
