import type { Browser } from 'playwright-core'
import { GIVE_UP_AFTER_MS } from './poll.ts'

/** Gives every page that the browser will open the same long time for whatever is waited for in it. */
export function patient(browser: Browser): Browser {
  browser.on('context', (context) => {
    context.setDefaultTimeout(GIVE_UP_AFTER_MS)
    context.setDefaultNavigationTimeout(GIVE_UP_AFTER_MS)
  })
  return browser
}
