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

  /** A page that tells what it loaded from elsewhere, and what its policy kept it from. */
  async function open(path: string, options: BrowserContextOptions = {}) {
    const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options })
    const page = await context.newPage()
    const wrong: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(`${origin}/`)) wrong.push(`loads ${request.url()}`)
    })
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) wrong.push(message.text())
    })
    page.on('pageerror', (error) => wrong.push(String(error)))
    await page.goto(`${origin}${path}`)
    return { page, wrong, context }
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

  test('every page loads nothing from elsewhere, keeps to its policy, and has one title', async () => {
    const { page, wrong, context } = await open('/docs/')
    const paths = await pathsOf(page)
    assert.ok(paths.length > 25, `${paths.length} pages`)
    for (const path of paths) {
      await page.goto(`${origin}${path}`, { waitUntil: 'domcontentloaded' })
      assert.equal(await page.locator('h1').count(), 1, path)
      assert.equal(await page.locator('nav[aria-label=Pages] [aria-current=page]').count(), 1, path)
    }
    assert.deepEqual(wrong, [])
    await context.close()
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
      const { page, context } = await open('/docs/', { colorScheme })
      const paths = ['', 'quick-start/', 'documents/', 'performance/', 'decisions/', 'api/']
      for (const path of paths) {
        await page.goto(`${origin}/docs/${path}`)
        if (path === 'api/') for (const id of ['listAgents', 'sendMessage']) await page.locator(`#${id} .try summary`).click()
        if (path === 'documents/') await page.setViewportSize({ width: 390, height: 800 })
        await page.evaluate(AXE)
        // All operations are made by the same few lines.
        const within =
          path === 'api/' ? JSON.stringify({ include: [['header'], ['.key'], ['#listAgents'], ['#sendMessage']] }) : 'document'
        // What differs between the themes is colours.
        const options = colorScheme === 'dark' ? { runOnly: ['color-contrast'] } : {}
        const run = `axe.run(${within}, ${JSON.stringify(options)})`
        const { violations } = (await page.evaluate(run)) as { violations: { id: string; nodes: { html: string }[] }[] }
        assert.deepEqual(
          violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`),
          [],
          path,
        )
      }
      await context.close()
    })
  }

  test('the search finds sections, and is reached and left by the keyboard', async () => {
    const { page, wrong, context } = await open('/docs/')
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
    await context.close()
  })

  test('the search waits for its index where a reader types faster than it comes, and asks again where it did not come', async () => {
    const { page, context } = await open('/docs/')
    let asked = 0
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/assets/search-*.json', async (route) => {
      if (++asked === 1) return route.abort()
      await promise
      return route.continue()
    })
    await page.keyboard.press('/')
    await page.keyboard.type('a')
    await page.locator('#results').getByText('The search could not be loaded.').waitFor()
    await page.keyboard.type('dd folder')
    await page.keyboard.press('Enter')
    resolve()
    await page.waitForURL('**/docs/quick-start/#how-do-i-add-a-folder')
    await context.close()
  })

  test('code is copied where a page has no clipboard, as on a network of one’s own without https', async () => {
    const { page, context } = await open('/docs/quick-start/', { permissions: ['clipboard-read'] })
    await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })')
    await page.evaluate(`addEventListener('copy', () => { globalThis.copied = document.activeElement.value })`)
    await page.locator('.frame').first().hover()
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    assert.match((await page.evaluate('copied')) as string, /^git clone .*\nnpm start$/)
    await context.close()
  })

  test('code is copied as it is typed, and the theme that was picked is kept', async () => {
    const { page, context } = await open('/docs/quick-start/', {
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
    await context.close()
  })

  test('on a phone the pages are behind a button, and nothing is wider than the screen', async () => {
    const { page, context } = await open('/docs/configuration/', { viewport: { width: 360, height: 700 } })
    const link = page.locator('nav[aria-label=Pages]').getByText('Quick start')
    assert.equal(await link.isVisible(), false)
    await page.getByRole('button', { name: 'Pages' }).click()
    assert.equal(await link.isVisible(), true)
    await page.evaluate('location.hash = "server"')
    await link.waitFor({ state: 'hidden' })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    await page.goto(`${origin}/docs/api/`)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    await context.close()
  })

  test('the reference shows every operation of this service', async () => {
    const { page, wrong, context } = await open('/docs/api/')
    for (const [path, methods] of Object.entries(openApi.paths)) {
      for (const [method, { operationId }] of Object.entries(methods)) {
        const section = page.locator(`#${operationId}`)
        assert.equal(await section.locator('.route').innerText(), `${method.toUpperCase()} /v1${path}`)
      }
    }
    assert.deepEqual(wrong, [])
    await context.close()
  })

  test('the reference sends real requests with the key of its reader', async () => {
    const agentId = await service.newAgent({ name: 'Shown in the reference', model: 'extractive' })
    const { page, wrong, context } = await open('/docs/api/')
    const tried = (id: string) => page.locator(`#${id} .try`)
    const send = async (id: string) => {
      if ((await tried(id).getAttribute('open')) === null) await tried(id).locator('summary').click()
      await tried(id).getByRole('button', { name: 'Send' }).click()
      await tried(id).locator('.outcome p').waitFor()
      return tried(id).locator('.outcome').innerText()
    }
    assert.match(await send('listAgents'), /Enter a key/)
    await page.getByLabel('API key or token').fill('rpt_wrong')
    await send('listAgents')
    await tried('listAgents').getByText('"unauthorized"').waitFor()
    await page.getByLabel('API key or token').fill(service.client.key)
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
    await context.close()
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
