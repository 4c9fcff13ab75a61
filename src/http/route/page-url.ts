import { invalid } from '../../core/errors.ts'
import { FetchError } from '../../net/fetch-error.ts'
import { toFetchable } from '../../net/guarded-fetch.ts'

/** A URL as it is fetched and told apart: without what follows `#`. Whether it may be reached is found out when it is fetched. */
export function pageUrl(path: string, url: string): string {
  try {
    return toFetchable(url).href
  } catch (error) {
    throw error instanceof FetchError ? invalid(path, error.message) : error
  }
}
