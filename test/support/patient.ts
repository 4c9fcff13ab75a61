import type { Browser } from 'playwright-core'
import { GIVE_UP_AFTER_MS } from './poll.ts'

/** Sets the same long timeout for all waits in all future pages of the browser. */
export function patient(browser: Browser): Browser {
  browser.on('context', (context) => {
    context.setDefaultTimeout(GIVE_UP_AFTER_MS)
    context.setDefaultNavigationTimeout(GIVE_UP_AFTER_MS)
  })
  return browser
}
