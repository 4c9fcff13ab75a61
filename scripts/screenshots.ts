// Takes screenshots of every page from a service filled with sample activity. Run by hand.
//   node scripts/screenshots.ts                       the ones in the docs, into docs/images
//   node scripts/screenshots.ts --all FOLDER          all of them in all looks, for review
//   … --only setup,keys --look light,phone            a selection
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Browser, BrowserContext } from 'playwright-core'
import { openBrowser } from '../test/support/browser.ts'
import { type Look, looks, openTab, rename, settled, toWebp } from './screenshots/camera.ts'
import { inDocs } from './screenshots/in-docs.ts'
import { type Picture, pictures } from './screenshots/pictures.ts'
import { makeScene, type Scene } from './screenshots/scene.ts'

const DOCS = fileURLToPath(new URL('../docs/images/', import.meta.url))
const { values } = parseArgs({ options: { all: { type: 'string' }, only: { type: 'string' }, look: { type: 'string' } } })
const isWanted = (list: string | undefined, name: string) => list === undefined || list.split(',').includes(name)

const scene = await makeScene()
const browser = await openBrowser()
try {
  if (values.all === undefined) await makeThoseOfDocs(browser)
  else await makeAll(browser, values.all)
} finally {
  await Promise.all([browser.close(), scene.close()])
}

async function makeAll(browser: Browser, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  for (const [lookName, look] of Object.entries(looks)) {
    if (!isWanted(values.look, lookName)) continue
    const tabs = await openTabs(browser, look)
    for (const [name, picture] of Object.entries(pictures)) {
      if (!isWanted(values.only, name)) continue
      // A failure is reported, and the other pictures are still taken.
      await take(tabs, picture, look, true)
        .then((png) => writeFileSync(join(folder, `${name}.${lookName}.png`), png))
        .catch((error: Error) => console.error(`${name} ${lookName}: ${error.message.split('\n', 1)[0]}`))
    }
    await tabs.close()
  }
}

async function makeThoseOfDocs(browser: Browser): Promise<void> {
  const darkroom = await browser.newPage()
  for (const [path, shots] of Object.entries(inDocs)) {
    if (!isWanted(values.only, path)) continue
    const taken: Buffer[] = []
    for (const { name, look, size } of shots) {
      const seen: Look = { ...looks[look], ...(size && { size }) }
      const tabs = await openTabs(browser, seen)
      taken.push(await take(tabs, pictures[name]!, seen, false))
      await tabs.close()
    }
    const file = join(DOCS, `${path}.webp`)
    mkdirSync(dirname(file), { recursive: true })
    const packed = await toWebp(darkroom, taken)
    writeFileSync(file, packed)
    console.log(`${path} ${Math.round(packed.length / 1_000)} kB`)
  }
}

interface Tabs {
  inside: BrowserContext
  outside: BrowserContext
  close(): Promise<unknown>
}

async function openTabs(browser: Browser, look: Look): Promise<Tabs> {
  const [inside, outside] = await Promise.all([openTab(browser, look, scene.service.client.key), openTab(browser, look)])
  return { inside, outside, close: () => Promise.all([inside.close(), outside.close()]) }
}

async function take(tabs: Tabs, picture: Picture, look: Look, isWhole: boolean): Promise<Buffer> {
  const { path, act, after, isOutside, isShop, isWindow } = picture
  const page = await (isOutside || isShop ? tabs.outside : tabs.inside).newPage()
  page.setDefaultTimeout(12_000)
  try {
    const origin = isShop ? scene.shop : scene.origin
    await page.goto(isShop ? `${origin}${look.language === 'ar' ? '/ar' : ''}` : `${origin}${fill(path)}`)
    await settled(page)
    await act?.(page, scene)
    if (!isWindow) await settled(page)
    await rename(page, scene.addresses)
    return await page.screenshot({ fullPage: isWhole && !isWindow, animations: 'disabled' })
  } finally {
    after?.(scene)
    await page.close()
  }
}

function fill(path: string): string {
  const ids: Record<string, keyof Scene> = {
    FAILED_DOCUMENT: 'failedDocumentId',
    FAILED_SESSION: 'failedSessionId',
    DOCUMENT: 'documentId',
    SESSION: 'sessionId',
    WEBHOOK: 'webhookId',
    AGENT: 'agentId',
    EMPTY: 'emptyAgentId',
  }
  return Object.entries(ids).reduce((now, [name, id]) => now.replace(name, String(scene[id])), path)
}
