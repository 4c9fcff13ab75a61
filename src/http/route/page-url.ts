import { invalid } from '../../core/errors.ts'
import { FetchError } from '../../net/fetch-error.ts'
import { toFetchable } from '../../net/guarded-fetch.ts'

/** Returns the URL in the form that is fetched and compared, without its fragment. Whether it is reachable is checked when it is fetched. */
export function pageUrl(path: string, url: string): string {
  try {
    return toFetchable(url).href
  } catch (error) {
    throw error instanceof FetchError ? invalid(path, error.message) : error
  }
}
