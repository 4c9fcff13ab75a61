export const siteTypes = ['url', 'sitemap', 'site'] as const
export type SiteType = (typeof siteTypes)[number]

/** Longer links are not followed: sitemaps.org allows no more, and PostgreSQL index rows are limited to 2,704 bytes. */
export const MAX_LINK_CHARS = 2_048

export const siteStatuses = ['queued', 'processing', 'ready', 'failed'] as const
export type SiteStatus = (typeof siteStatuses)[number]

/** Web pages that an agent's knowledge base mirrors. The contract calls it a source. */
export interface Site {
  id: string
  /** One page, the pages of a sitemap, or the pages that links lead to from the first one. */
  type: SiteType
  url: string
  maxPages: number
  /** The largest number of links from the first page. Only for type `site`. */
  maxDepth: number
  /** Null: refreshed only on request. */
  refreshHours: number | null
  status: SiteStatus
  /** Why the whole site failed, and how to fix it. */
  error: { code: string; message: string } | null
  /** Counts of the last sync, or of the running one. */
  pages: { found: number; taken: number; unchanged: number; failed: number }
  documents: number
  syncedAt: number | null
  nextSyncAt: number | null
  createdAt: number
  updatedAt: number
}

/** A site to add. An omitted setting stays unchanged, or defaults to `siteDefaults` for a new site. */
export interface NewSite {
  type: SiteType
  url: string
  maxPages?: number | undefined
  maxDepth?: number | undefined
  refreshHours?: number | null | undefined
}

export const siteDefaults = { maxPages: 100, maxDepth: 3, refreshHours: null } as const
