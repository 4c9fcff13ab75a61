import { setTimeout as pauseMs } from 'node:timers/promises'
import { DocumentError } from '../../../core/document-error.ts'
import { FetchError } from '../../../net/fetch-error.ts'
import { type Fetched, type FetchInput, type FetchRules, guardedFetch } from '../../../net/guarded-fetch.ts'

/** Contract: transient failures are tried at most three times within 20 s. */
const TRIES = 3
const WITHIN_MS = 20_000
const PAUSE_MS = [500, 2_000]

/** The `Accept` header for web pages. */
export const PAGE_TYPES =
  'text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, application/pdf;q=0.9, application/json;q=0.8, */*;q=0.5'

/** Fetches a page for the knowledge base, and retries transient failures. Throws `FetchError`. */
export async function fetchPage(rules: FetchRules, input: FetchInput, random: () => number = Math.random): Promise<Fetched> {
  const start = performance.now()
  for (let tries = 1; ; tries++) {
    try {
      return await guardedFetch(rules, { accept: PAGE_TYPES, ...input })
    } catch (error) {
      if (!(error instanceof FetchError) || !error.transient || tries >= TRIES) throw error
      const pause = PAUSE_MS[tries - 1]! * (0.75 + random() / 2)
      if (performance.now() - start + pause > WITHIN_MS) throw error
      await pauseMs(pause, undefined, input.signal === undefined ? {} : { signal: input.signal })
    }
  }
}

/** Returns the error to store in the document's `error`. */
export const toDocumentError = (error: unknown): DocumentError =>
  error instanceof FetchError
    ? new DocumentError(error.code, `The page ${error.message}.`, { cause: error })
    : new DocumentError('internal_error', 'The page could not be fetched.', { cause: error })
