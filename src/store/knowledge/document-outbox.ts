import type { Document } from '../../core/document.ts'
import type { KnowledgeBase } from './base.ts'
import { findDocument } from './documents.ts'

/** Documents that became ready, or failed, of which nobody was told yet; those first that were added first. */
export function listNews(base: KnowledgeBase, most: number): Document[] {
  return base
    .all<{ id: string }>(
      // As an expression the status brings up no index of its own, by which all documents would be looked at.
      `SELECT id FROM document WHERE news IS NOT NULL AND coalesce(status, '') IN ('ready', 'failed') ORDER BY number LIMIT ?`,
      most,
    )
    .flatMap(({ id }) => findDocument(base, id) ?? [])
}

/** They were told as they were at these times; what changed since is still to be told. In a transaction of the caller. */
export function endNews(base: KnowledgeBase, told: readonly { id: string; updatedAt: number }[]): void {
  for (const { id, updatedAt } of told)
    base.run('UPDATE document SET news = NULL WHERE id = ? AND updated_at = ? AND news IS NOT NULL', id, updatedAt)
}
