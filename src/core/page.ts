export interface PageInput {
  limit: number
  /** Id of the item after which the page starts. */
  cursor?: string
}

/** Asks for a page of what a knowledge base holds. */
export interface KnowledgePageInput extends PageInput {
  /** The key that asks. Keys take turns. */
  askedBy?: string
}

export interface Page<T> {
  items: T[]
  hasMore: boolean
  /** All items, not only this page's. */
  total: number
}
