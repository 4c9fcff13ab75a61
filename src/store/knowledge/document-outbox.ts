import type { Document } from '../../core/document.ts'
import type { KnowledgeBase } from './base.ts'
import { findDocument } from './documents.ts'
import { drive } from './work.ts'

/** Returns documents that became ready or failed and are not reported yet, in order of creation. */
export function listDocumentEvents(base: KnowledgeBase, most: number): Document[] {
  return base
    .all<{ id: string }>(
      // `coalesce` prevents the use of an index on `status`, which would scan all documents.
      `SELECT id FROM {document} WHERE news IS NOT NULL AND coalesce(status, '') IN ('ready', 'failed') ORDER BY number LIMIT ?`,
      most,
    )
    .flatMap(({ id }) => drive(base, findDocument(id)) ?? [])
}

/** Removes reported documents from the outbox if they are unchanged since `updatedAt`; later changes are still reported. Runs in the caller's transaction. */
export function deleteDocumentEvents(base: KnowledgeBase, told: readonly { id: string; updatedAt: number }[]): void {
  for (const { id, updatedAt } of told)
    base.update('document', { set: 'news = NULL', where: 'id = ? AND updated_at = ? AND news IS NOT NULL' }, id, updatedAt)
}
