import type { KnowledgeStore } from './base.ts'
import { KnowledgeFolder } from './folder.ts'
import { PostgresKnowledge, type PostgresKnowledgeOptions } from './postgres/postgres-knowledge.ts'

/** Location of knowledge bases: a folder of this process, or a database shared with other processes. */
export type KnowledgeLocation = { folder: string } | { postgres: PostgresKnowledgeOptions }

/** Opens the store for the calling thread. */
export const openKnowledgeStore = (place: KnowledgeLocation): KnowledgeStore =>
  'folder' in place ? new KnowledgeFolder(place.folder) : new PostgresKnowledge(place.postgres)
