import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findProgram } from '../runner/programs.ts'
import { endsBy } from './cleanup.ts'
import { patient } from './patient.ts'
import { GIVE_UP_AFTER_MS } from './poll.ts'

/** Starts the installed Chromium in headless mode. It ends with the test file. */
export async function openBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu']
  const browser = await chromium.launch({ executablePath: findProgram('chromium'), args, timeout: GIVE_UP_AFTER_MS })
  endsBy('Chromium', () => browser.close())
  return patient(browser)
}

/** What a reply did, or could do, in a page that shows it. */
export interface Seen {
  /** Scripts that ran, dialogs, windows, navigations. */
  acted: string[]
  /** Addresses that the reply loaded. */
  loaded: string[]
  /** Elements and attributes that a reply never needs. */
  active: string[]
}

const PAGE = 'https://page.example/'
const IN_PAGE = fileURLToPath(new URL('in-page.js', import.meta.url))
/** Events that can trigger a handler. */
const EVENTS = [
  ...['load', 'error', 'click', 'dblclick', 'mouseover', 'mouseenter', 'mousemove', 'focus', 'blur', 'toggle', 'begin', 'start'],
  ...['keydown', 'input', 'change', 'submit', 'wheel', 'pointerover', 'animationstart'],
]

/** A page for checking replies one by one: as a document, and inserted by `innerHTML`. */
export class Viewer {
  readonly #page: Page
  #seen: Seen = { acted: [], loaded: [], active: [] }
  #html = ''

  private constructor(page: Page) {
    this.#page = page
  }

  static async open(browser: Browser): Promise<Viewer> {
    const page = await browser.newPage()
    const viewer = new Viewer(page)
    await page.exposeFunction('__told', (what: string) => void viewer.#seen.acted.push(what))
    await page.addInitScript({ path: IN_PAGE })
    await page.route('**', (route) => {
      const url = route.request().url()
      if (url === PAGE) return route.fulfill({ contentType: 'text/html; charset=utf-8', body: viewer.#html })
      viewer.#seen.loaded.push(url)
      return route.abort()
    })
    page.on('dialog', (dialog) => {
      viewer.#seen.acted.push(`dialog ${dialog.message()}`)
      dialog.dismiss().catch(() => {})
    })
    page.on('popup', () => viewer.#seen.acted.push('window'))
    page.on('framenavigated', (frame) => {
      if (frame.url() !== PAGE && frame.url() !== 'about:blank') viewer.#seen.acted.push(`moved to ${frame.url()}`)
    })
    return viewer
  }

  async look(reply: string): Promise<Seen> {
    this.#seen = { acted: [], loaded: [], active: [] }
    this.#html = `<!doctype html><meta charset="utf-8"><body><main>${reply}</main></body>`
    await this.#page.goto(PAGE)
    this.#seen.active = await this.#page.evaluate(`__look(${JSON.stringify(reply)}, ${JSON.stringify(EVENTS)})`)
    return this.#seen
  }
}
