export const siteTypes = ['url', 'sitemap', 'site'] as const
export type SiteType = (typeof siteTypes)[number]

/** Links to longer addresses are not followed: sitemaps.org allows no more, and indexes of PostgreSQL hold 2,704 bytes. */
export const MAX_LINK_CHARS = 2_048

export const siteStatuses = ['queued', 'processing', 'ready', 'failed'] as const
export type SiteStatus = (typeof siteStatuses)[number]

/** Pages of the web that an agent's knowledge is kept in step with; the contract calls it a source. */
export interface Site {
  id: string
  /** One page; the pages that a sitemap names; or those that links lead to, from the first. */
  type: SiteType
  url: string
  maxPages: number
  /** How many links away from the first page; of type `site` only. */
  maxDepth: number
  /** Null: only when asked to. */
  refreshHours: number | null
  status: SiteStatus
  /** Why it failed as a whole, in words that a person can act on. */
  error: { code: string; message: string } | null
  /** Of the last time, or of the one under way. */
  pages: { found: number; taken: number; unchanged: number; failed: number }
  documents: number
  syncedAt: number | null
  nextSyncAt: number | null
  createdAt: number
  updatedAt: number
}

/** A site to add. A setting that is left out keeps its value, or is that of `siteDefaults` in a new site. */
export interface NewSite {
  type: SiteType
  url: string
  maxPages?: number | undefined
  maxDepth?: number | undefined
  refreshHours?: number | null | undefined
}

export const siteDefaults = { maxPages: 100, maxDepth: 3, refreshHours: null } as const
