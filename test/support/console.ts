import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/**
 * Runs in the page. Records policy violations, and layout shifts before the first user action.
 * The browser's `hadRecentInput` covers half a second after input, which is long enough on fast machines only.
 */
const WATCH = `
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile }) =>
    console.error('policy violated: ' + violatedDirective + ' ' + blockedURI + ' ' + sourceFile))
  globalThis.__moves = []
  let touchedAt = Infinity
  for (const type of ['pointerdown', 'keydown', 'input']) addEventListener(type, ({ timeStamp }) => touchedAt = Math.min(touchedAt, timeStamp), true)
  const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join()
  const told = ({ node, previousRect, currentRect }) =>
    (node?.outerHTML ?? node?.textContent ?? 'something that is gone').slice(0, 80) + ' from ' + place(previousRect) + ' to ' + place(currentRect)
  new PerformanceObserver((list) => {
    for (const { value, startTime, sources } of list.getEntries())
      if (startTime < touchedAt) __moves.push({ value, sources: sources.map(told) })
  }).observe({ type: 'layout-shift', buffered: true })
`
/** Maximum layout shift while a page loads. "Good" is below 0.1. */
const MOST_MOVED = 0.05
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 }, smallest: { width: 360, height: 640 } }

export interface Look {
  size?: keyof typeof SIZES
  scheme?: 'light' | 'dark'
  language?: 'en' | 'ar'
}
const ALL_LOOKS: Record<string, Look> = {
  'in the light': {},
  'on the smallest phone, in the dark, in Arabic': { size: 'smallest', scheme: 'dark', language: 'ar' },
  'in the dark': { scheme: 'dark' },
  'on a phone': { size: 'phone' },
}
/** The looks for checking every page: each variant at least once, or more with `EVERY_LOOK`. */
export const looks = Object.fromEntries(Object.entries(ALL_LOOKS).slice(0, process.env.EVERY_LOOK === undefined ? 2 : undefined))

interface Move {
  /** Score of the layout shift. */
  value: number
  /** The elements that moved, with old and new positions. */
  sources: string[]
}

interface Tab extends Look {
  key?: string
  /** True for a context that shares nothing with earlier tabs: no cached files, no preferences, no blocked network. */
  isAlone?: boolean
}

const contexts = new WeakMap<Browser, Map<string, Promise<BrowserContext>>>()

/** Returns a context. Tabs with the same look share one, so that the console's files load and compile once: most of a tab's cost. */
function contextOf(
  browser: Browser,
  { size = 'desktop', scheme = 'light', language = 'en', isAlone }: Tab,
): Promise<BrowserContext> {
  const make = () =>
    browser.newContext({
      viewport: SIZES[size],
      colorScheme: scheme,
      locale: language,
      reducedMotion: 'reduce',
      hasTouch: size !== 'desktop',
      isMobile: size !== 'desktop',
    })
  if (isAlone) return make()
  const own = contexts.get(browser) ?? new Map<string, Promise<BrowserContext>>()
  contexts.set(browser, own)
  const name = `${size} ${scheme} ${language}`
  const context = own.get(name) ?? make()
  own.set(name, context)
  return context
}

/** The console in a browser, with all problems that occurred. */
export class Console {
  readonly page: Page
  readonly origin: string
  /** Errors, policy violations, requests to other origins. */
  readonly troubles: string[] = []
  /** Transferred bytes of the console's own files. */
  fileBytes = 0
  readonly close: () => Promise<void>

  private constructor(page: Page, origin: string, close: () => Promise<void>) {
    this.page = page
    this.origin = origin
    this.close = close
  }

  /** Opens a tab without loading a page. With `key` it is signed in; without, it has its own context and shows the sign-in page. */
  static async open(browser: Browser, baseUrl: string, tab: Tab = {}) {
    const { key, isAlone = key === undefined } = tab
    const context = await contextOf(browser, { ...tab, isAlone })
    const page = await context.newPage()
    // The process with the compiled files lives as long as one of its pages, so the first page stays open.
    const isFirst = context.pages().length === 1
    const origin = new URL(baseUrl).origin
    const close = async () => {
      if (isAlone) await context.close()
      else if (isFirst) await page.goto(`${origin}/console/icon.svg`)
      else await page.close()
    }
    const opened = new Console(page, origin, close)
    await page.addInitScript(WATCH)
    if (key !== undefined)
      await page.addInitScript(`sessionStorage.getItem('repartee.key') ?? sessionStorage.setItem('repartee.key', '${key}')`)
    page.on('console', (message) => message.type() === 'error' && opened.troubles.push(message.text()))
    page.on('pageerror', (error) => opened.troubles.push(String(error)))
    page.on('request', (request) => {
      const { origin } = new URL(request.url())
      if (origin !== opened.origin && origin !== 'null') opened.troubles.push(`asked ${request.url()}`)
    })
    page.on('response', async (response) => {
      if (!new URL(response.url()).pathname.startsWith('/console/')) return
      const sizes = await response
        .request()
        .sizes()
        .catch(() => undefined)
      opened.fileBytes += sizes?.responseBodySize ?? 0
    })
    return opened
  }

  /** Opens a page by its address below `/console`, and waits until it is loaded. */
  async goto(path: string): Promise<Page> {
    await this.page.goto(`${this.origin}/console${path}`)
    await this.settled()
    return this.page
  }

  /** Resolves when the page has its heading and nothing is loading. */
  async settled(): Promise<void> {
    await this.page.locator('h1').first().waitFor()
    await this.page.locator('[aria-busy=true], [role=progressbar]:not([aria-valuenow])').first().waitFor({ state: 'detached' })
  }

  /** Returns the layout shifts during loading, before the first user action. Waits until rendering is complete. */
  async moves(): Promise<Move[]> {
    await this.page.evaluate(`document.fonts.ready.then(() => new Promise((done) =>
      setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))))`)
    return (await this.page.evaluate('__moves')) as Move[]
  }

  /** Returns the findings of axe. Excludes React Aria's announcements, which can name removed elements. */
  async findings(): Promise<string[]> {
    const found = (await this.page.evaluate(`(async () => {
      if (globalThis.axe === undefined) { ${AXE} }
      const { violations } = await axe.run({ exclude: ['[data-live-announcer]'] }, { resultTypes: ['violations'] })
      return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target, failureSummary }) => id + ': ' + help + ' at ' + target + ' ' + failureSummary))
    })()`)) as string[]
    return found
  }

  /** Like `assertSound`, but ignores browser errors for requests that are expected to fail. */
  async assertSoundBut(expected: RegExp, what: string): Promise<void> {
    const others = this.troubles.filter((trouble) => !expected.test(trouble))
    this.troubles.splice(0, this.troubles.length, ...others)
    await this.assertSound(what)
  }

  /** Asserts that the page has no accessibility findings, layout shifts, overflow or errors. */
  async assertSound(what: string): Promise<void> {
    assert.deepEqual(await this.findings(), [], `axe finds nothing in ${what}`)
    const moves = await this.moves()
    const wider = (await this.page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number
    const moved = moves.reduce((sum, { value }) => sum + value, 0)
    assert.ok(moved < MOST_MOVED, `nothing moves in ${what}: ${JSON.stringify(moves, null, 1)}`)
    assert.ok(wider <= 0, `${what} is as wide as the window, and not ${wider} px wider`)
    assert.deepEqual(this.troubles, [], `nothing fails in ${what}`)
  }
}
