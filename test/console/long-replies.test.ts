// Replies that take the page long to show: while they stream, and where they would become far longer than they are.
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { Console } from '../support/console.ts'
import { says, streams } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

/** Puts down the HTML that is rendered. By the clock of the page, each rendering takes an hour. */
const SLOW_RENDERING = `{
  const now = performance.now.bind(performance)
  const parse = DOMParser.prototype.parseFromString
  globalThis.rendered = []
  performance.now = () => now() + rendered.length * 3_600_000
  DOMParser.prototype.parseFromString = function (html, type) {
    rendered.push(html)
    return parse.call(this, html, type)
  }
}`
const PIECES = Array.from({ length: 6 }, (_, i) => `piece${i}.`)
const TWO_FRAMES = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))'

describe('replies that take long', { skip: needsProcess }, () => {
  let service: Service
  let browser: Browser
  before(async () => {
    ;[service, browser] = await Promise.all([startService(), openBrowser()])
  })
  after(() => Promise.all([browser?.close(), service?.stop()]))
  afterEach(() => service.model.reset())

  const openAt = async (path: string, script = '') => {
    const console = await Console.open(browser, service.client.address.baseUrl, { key: service.client.key })
    await console.page.addInitScript(script)
    return { console, page: await console.goto(`/agents/${await service.newAgent()}${path}`) }
  }
  const places: [name: string, path: string, field: string][] = [
    ['the playground', '/playground', 'Message'],
    ['a trial', '', 'Question'],
  ]
  for (const [name, path, field] of places) {
    const ask = async (page: Page, text: string) => {
      const box = page.getByRole('textbox', { name: field, exact: true })
      await box.fill(text)
      await box.press('Enter')
    }

    test(`in ${name} are rendered less often while they stream`, async () => {
      const { console, page } = await openAt(path, SLOW_RENDERING)
      // From here on the renderer is there.
      service.model.behaviour = says('Hello.')
      await ask(page, 'Hello?')
      await page.getByRole('status').filter({ hasText: 'Hello.' }).waitFor({ state: 'attached' })
      const gates = PIECES.map(() => Promise.withResolvers<void>())
      service.model.behaviour = streams(PIECES, { gates: gates.map(({ promise }) => promise) })
      await ask(page, 'When does the shop open?')
      const rendered = () => page.evaluate("rendered.filter((html) => html.includes('piece'))") as Promise<string[]>
      for (const { resolve } of gates) {
        resolve()
        await until('the first piece is rendered', async () => (await rendered()).length > 0)
        await page.evaluate(TWO_FRAMES)
      }
      const whole = `<p>${PIECES.join('')}</p>\n`
      await until('all is rendered', async () => (await rendered()).includes(whole))
      assert.deepEqual(await rendered(), [`<p>${PIECES[0]}</p>\n`, whole])
      await console.close()
    })
  }

  test('to render, because they would become far longer, come as they were written', async () => {
    const table = `|${'|'.repeat(181)}\n|${'-|'.repeat(181)}\n${'|\n'.repeat(300)}`
    const links = `[a]: /${'x'.repeat(10_000)}\n\n${'[a]'.repeat(2_000)}`
    const { console, page } = await openAt('/playground')
    for (const [i, markdown] of [table, links].entries()) {
      service.model.behaviour = says(markdown)
      await page.getByRole('textbox', { name: 'Message' }).fill('Tell me all.')
      await page.getByRole('textbox', { name: 'Message' }).press('Enter')
      await page.locator('.playground-tools').nth(i).waitFor()
      const shown = page.locator('.playground-reply .prose').nth(i)
      assert.equal(await shown.locator('*').count(), 1)
      assert.equal(await shown.textContent(), markdown)
    }
    await console.close()
  })
})
