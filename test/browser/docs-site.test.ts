// The documentation as readers meet it: in a real browser, on a real service.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { exampleFor } from '../../scripts/site/examples.ts'
import { renderPage } from '../../scripts/site/markdown.ts'
import { openBrowser } from '../support/browser.ts'
import { until } from '../support/poll.ts'
import { type Service, startService } from '../support/service.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const BUILD = fileURLToPath(new URL('../../scripts/build-web.ts', import.meta.url))

interface OpenApi {
  paths: Record<string, Record<string, { operationId: string; requestBody?: { content: Record<string, { schema: object }> } }>>
}

describe('the documentation', () => {
  let service: Service
  let browser: Browser
  let origin: string
  let openApi: OpenApi
  before(async () => {
    assert.equal(spawnSync(process.execPath, [BUILD], { stdio: 'inherit' }).status, 0)
    ;[service, browser] = await Promise.all([startService(), openBrowser()])
    origin = new URL(service.client.address.baseUrl).origin
    openApi = (await (await fetch(`${origin}/openapi.json`)).json()) as OpenApi
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  type Opened = { page: Page; wrong: string[]; refused: string[] }
  let usual: Promise<Opened> | undefined
  /** A page that tells what it loaded from elsewhere, and what its policy kept it from. The usual one is used again and again, because each costs half a second of a processor. */
  async function open(path: string, options?: BrowserContextOptions): Promise<Opened> {
    usual ??= make({})
    const opened = await (options === undefined ? usual : make(options))
    // A service that is short of processor time refuses some requests, and a page without its script answers nothing. A reader would reload it.
    do {
      opened.wrong.length = 0
      opened.refused.length = 0
      await opened.page.goto(`${origin}${path}`)
    } while (opened.refused.length > 0)
    return opened
  }
  async function make(options: BrowserContextOptions): Promise<Opened> {
    const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options })
    const page = await context.newPage()
    const wrong: string[] = []
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() === 503) refused.push(response.url())
    })
    page.on('request', (request) => {
      if (!request.url().startsWith(`${origin}/`)) wrong.push(`loads ${request.url()}`)
    })
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) wrong.push(message.text())
    })
    page.on('pageerror', (error) => wrong.push(String(error)))
    return { page, wrong, refused }
  }

  const text = async (url: string) => {
    const response = await fetch(url)
    assert.equal(response.status, 200, url)
    return response.text()
  }
  const pathsOf = async (page: Page) =>
    page
      .locator('nav[aria-label=Pages] a')
      .evaluateAll((links) => (links as unknown as { href: string }[]).map(({ href }) => new URL(href).pathname))

  test('every page loads nothing from elsewhere, needs nothing that its policy forbids, and has one title', async () => {
    const { page } = await open('/docs/')
    const paths = await pathsOf(page)
    assert.ok(paths.length > 25, `${paths.length} pages`)
    for (const path of paths) {
      const html = await text(`${origin}${path}`)
      assert.equal(html.match(/<h1[ >]/g)?.length, 1, path)
      assert.equal(html.match(/ aria-current="page"/g)?.length, 1, path)
      // Of code that is shown, only what it is escaped to is there.
      assert.doesNotMatch(
        html,
        /<style|<[^>]+ (style|on\w+)=|<script(?![^>]* src=)|<(iframe|object|embed|base|form action)/,
        path,
      )
      for (const [tag, url] of html.matchAll(/<(?:script|link|img|source)[^>]* (?:src|href)="([^"]*)"/g))
        assert.equal(new URL(url!, `${origin}${path}`).origin, origin, `${path}: ${tag}`)
    }
  })

  test('a page of each kind, in a browser, loads nothing from elsewhere and keeps to its policy', async () => {
    const { page, wrong } = await open('/docs/')
    for (const path of ['quick-start/', 'widget/', 'decisions/', 'changelog/', 'api/']) await page.goto(`${origin}/docs/${path}`)
    await page.evaluate('document.body.append(Object.assign(new Image(), { src: "https://elsewhere.example/x.png" }))')
    await until('it is noticed', () => wrong.length > 0)
    assert.match(wrong.join(), /elsewhere\.example/)
    assert.equal(wrong.filter((what) => !what.includes('elsewhere.example')).length, 0, wrong.join())
  })

  test('every link leads to something that is there', async () => {
    const seen = new Map<string, string>()
    const open = [`${origin}/docs/`]
    const links: { from: string; to: URL }[] = []
    for (let url = open.pop(); url !== undefined; url = open.pop()) {
      if (seen.has(url)) continue
      const html = await text(url)
      seen.set(url, html)
      for (const [, href] of html.matchAll(/<a [^>]*href="([^"]+)"/g)) {
        const to = new URL(href!.replaceAll('&amp;', '&'), url)
        if (to.origin !== origin) continue
        links.push({ from: url, to })
        if (to.pathname.startsWith('/docs/') && to.pathname.endsWith('/')) open.push(`${origin}${to.pathname}`)
      }
    }
    assert.ok(seen.size > 45, `${seen.size} pages`)
    for (const { from, to } of links) {
      const address = `${origin}${to.pathname}`
      if (!seen.has(address)) seen.set(address, await text(address))
      if (to.hash === '') continue
      const id = decodeURIComponent(to.hash.slice(1))
      assert.ok(seen.get(address)!.includes(` id="${id}"`), `${from} links to ${to}`)
    }
  })

  test('the texts for language models lead to Markdown, and so do the links in it', async () => {
    const index = await text(`${origin}/llms.txt`)
    assert.match(index, /^# Repartee\n\n> /)
    const linksIn = (markdown: string, base: string) =>
      [...markdown.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, href]) => new URL(href!, base))
    const own = linksIn(index, `${origin}/llms.txt`)
    assert.ok(own.length > 40)
    for (const url of own) {
      const response = await fetch(url)
      assert.equal(response.status, 200, String(url))
      const body = await response.text()
      if (!url.pathname.endsWith('.md')) continue
      assert.equal(response.headers.get('content-type'), 'text/markdown; charset=utf-8')
      for (const link of linksIn(body, String(url)))
        if (link.origin === origin) assert.equal((await fetch(link)).status, 200, `${url} links to ${link}`)
    }
    assert.match(await text(`${origin}/llms-full.txt`), /How do I add my own documents\?/)
  })

  test('an address without its slash leads on, and what is not there is told as everywhere', async () => {
    for (const path of ['/docs', '/docs/quick-start', '/docs/providers/openai']) {
      const response = await fetch(`${origin}${path}`, { redirect: 'manual' })
      assert.deepEqual([response.status, response.headers.get('location')], [308, `${path}/`])
    }
    for (const path of ['/docs/nowhere', '/docs/nowhere/', '/docs/../package.json', '/docs/%2e%2e%2fconsole/index.html']) {
      const response = await fetch(`${origin}${path}`)
      assert.equal(response.status, 404, path)
      assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'route_not_found')
    }
    const posted = await fetch(`${origin}/docs/`, { method: 'POST' })
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD'])
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`pages can be used by everybody: axe finds nothing, ${colorScheme}`, async () => {
      const { page } = await open('/docs/', { colorScheme })
      // What differs between the themes is colours: of text, code, tables, cards and forms.
      const isDark = colorScheme === 'dark'
      const paths = isDark
        ? ['', 'performance/', 'api/']
        : ['', 'quick-start/', 'documents/', 'performance/', 'decisions/', 'api/']
      for (const path of paths) {
        await page.goto(`${origin}/docs/${path}`)
        if (path === 'api/') for (const id of ['listAgents', 'sendMessage']) await page.locator(`#${id} .try summary`).click()
        if (path === 'documents/') await page.setViewportSize({ width: 390, height: 800 })
        await page.evaluate(AXE)
        // All operations, and all that stands further down in a long page, are made by the same few lines; axe would go through them.
        const more = path === 'api/' ? '.operation:not(#listAgents, #sendMessage)' : 'article > :nth-child(n+25):not(.around)'
        await page.evaluate(`for (const part of document.querySelectorAll('${more}')) part.remove()`)
        const options = isDark ? { runOnly: ['color-contrast'] } : {}
        const run = `axe.run(document, ${JSON.stringify(options)})`
        const { violations } = (await page.evaluate(run)) as { violations: { id: string; nodes: { html: string }[] }[] }
        assert.deepEqual(
          violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`),
          [],
          path,
        )
      }
    })
  }

  test('the search finds sections, and is reached and left by the keyboard', async () => {
    const { page, wrong } = await open('/docs/')
    await page.keyboard.press('/')
    await page.keyboard.type('add folder')
    const first = page.locator('#results a').first()
    await first.getByText('How do I add a folder?').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/quick-start/#how-do-i-add-a-folder')
    await page.keyboard.press('/')
    await page.keyboard.type('xyzzyq')
    await page.locator('#results').getByText('Nothing found.').waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await page.locator('#results').isVisible(), false)
    assert.deepEqual(wrong, [])
  })

  test('the search waits for its index where a reader types faster than it comes, and asks again where it did not come', async () => {
    const { page } = await open('/docs/', {})
    let isAway = true
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/assets/search-*.json', async (route) => {
      if (isAway) return route.abort()
      await promise
      return route.continue()
    })
    await page.keyboard.press('/')
    await page.keyboard.type('a')
    await page.locator('#results').getByText('The search could not be loaded.').waitFor()
    isAway = false
    await page.keyboard.type('dd folder')
    await page.keyboard.press('Enter')
    resolve()
    await page.waitForURL('**/docs/quick-start/#how-do-i-add-a-folder')
  })

  test('code is copied where a page has no clipboard, as on a network of one’s own without https', async () => {
    const { page } = await open('/docs/quick-start/', { permissions: ['clipboard-read'] })
    await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })')
    await page.evaluate(`addEventListener('copy', () => { globalThis.copied = document.activeElement.value })`)
    await page.locator('.frame').first().hover()
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    assert.match((await page.evaluate('copied')) as string, /^git clone .*\nnpm start$/)
  })

  test('code is copied as it is typed, and the theme that was picked is kept', async () => {
    const { page } = await open('/docs/quick-start/', {
      colorScheme: 'light',
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await page.locator('.frame').first().hover()
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    assert.match((await page.evaluate('navigator.clipboard.readText()')) as string, /^git clone .*\nnpm start$/)
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await background()
    await page.getByRole('button', { name: 'Switch between' }).click()
    const dark = await background()
    assert.notEqual(dark, light)
    await page.goto(`${origin}/docs/documents/`)
    assert.equal(await background(), dark)
    await page.getByRole('button', { name: 'Switch between' }).click()
    assert.equal(await background(), light)
  })

  test('on a phone the pages are behind a button, and nothing is wider than the screen', async () => {
    const { page } = await open('/docs/configuration/', { viewport: { width: 360, height: 700 } })
    const link = page.locator('nav[aria-label=Pages]').getByText('Quick start')
    assert.equal(await link.isVisible(), false)
    await page.getByRole('button', { name: 'Pages' }).click()
    assert.equal(await link.isVisible(), true)
    await page.evaluate('location.hash = "server"')
    await link.waitFor({ state: 'hidden' })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    await page.goto(`${origin}/docs/api/`)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
  })

  test('the reference shows every operation of this service', async () => {
    const { page, wrong } = await open('/docs/api/')
    const shown = await page
      .locator('.operation')
      .evaluateAll((sections) =>
        (sections as unknown as { id: string; querySelector(path: string): { innerText: string } }[]).map((section) => [
          section.id,
          section.querySelector('.route').innerText,
        ]),
      )
    const expected = Object.entries(openApi.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [operationId, `${method.toUpperCase()} /v1${path}`]),
    )
    assert.deepEqual(shown.sort(), expected.sort())
    assert.deepEqual(wrong, [])
  })

  test('the reference sends real requests with the key of its reader', async () => {
    const agentId = await service.newAgent({ name: 'Shown in the reference', model: 'extractive' })
    const { page, wrong } = await open('/docs/api/')
    const tried = (id: string) => page.locator(`#${id} .try`)
    const send = async (id: string) => {
      if ((await tried(id).getAttribute('open')) === null) await tried(id).locator('summary').click()
      await tried(id).getByRole('button', { name: 'Send' }).click()
      await tried(id).locator('.outcome p').waitFor()
      return tried(id).locator('.outcome').innerText()
    }
    assert.match(await send('listAgents'), /Enter a key/)
    await page.locator('#key').fill('rpt_wrong')
    await send('listAgents')
    await tried('listAgents').getByText('"unauthorized"').waitFor()
    await page.locator('#key').fill(service.client.key)
    await send('listAgents')
    await tried('listAgents').getByText('Shown in the reference').waitFor()
    // The agent that came back is the one that is asked.
    await send('createSession')
    await tried('createSession').getByText('"success": true').waitFor()
    assert.equal(await tried('createSession').getByLabel('agentId').inputValue(), agentId)
    await send('sendMessage')
    await tried('sendMessage').getByText('"aiMessage"').waitFor()
    const curl = await tried('sendMessage').locator('.curl').innerText()
    assert.match(curl, new RegExp(`^curl -s -X POST ${origin}/v1/agents/${agentId}/sessions/[0-9a-f-]{36}/messages`))
    assert.doesNotMatch(curl, new RegExp(service.client.key))
    const { body } = await service.client.get(`/agents/${agentId}/sessions`)
    assert.equal(body.sessions[0].totalMessages, 2)
    assert.deepEqual(wrong, [])
  })

  test('headings of one name have anchors of their own', () => {
    const place = { file: 'docs/client.md', toRoot: '../', pathOf: new Map() }
    const { headings } = renderPage('# Step 1\n\n## Step\n\n## Step\n\n## Step 1\n', place)
    assert.deepEqual(
      headings.map(({ id }) => id),
      ['step-1', 'step', 'step-2', 'step-1-1'],
    )
  })

  test('the bodies that the reference begins with are ones that the service takes', () => {
    const ajv = new Ajv2020({
      strict: false,
      formats: { uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'date-time': true, binary: true },
    })
    const bodies = Object.values(openApi.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ operationId, requestBody }) => {
        const schema = requestBody?.content['application/json']?.schema
        return schema === undefined ? [] : [{ operationId, schema }]
      })
    for (const { operationId, schema } of bodies) {
      const validate = ajv.compile(schema)
      assert.ok(validate(exampleFor(operationId, schema)), `${operationId}: ${JSON.stringify(validate.errors)}`)
    }
    assert.ok(bodies.length > 10)
  })
})
