export interface PageInput {
  limit: number
  /** Id of the item after which the page starts. */
  cursor?: string
}

export interface Page<T> {
  items: T[]
  hasMore: boolean
  /** All items, not only this page's. */
  total: number
}
