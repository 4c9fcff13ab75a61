// useChat in a real browser, from a page of another origin, with a token of its user.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { isOk } from '../support/assert.ts'
import { openBrowser } from '../support/browser.ts'
import { says, streams } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const PAGE = fileURLToPath(new URL('../support/use-chat-page.js', import.meta.url))

describe('useChat in Chromium', { skip: needsProcess }, async () => {
  const service = await startService()
  const { client, model } = service
  const pages = new Map<string, object>()
  let script = ''
  const server = createServer((request, response) => {
    const settings = pages.get(request.url!)
    if (settings === undefined)
      return void response.writeHead(request.url === '/page.js' ? 200 : 404, { 'content-type': 'text/javascript' }).end(script)
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(
      `<!doctype html><title>Chat</title><body></body><script>settings=${JSON.stringify(settings)}</script><script src="/page.js"></script>`,
    )
  })
  let origin: string
  let browser: Browser
  let agent: string
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    agent = await service.newAgent({ allowedOrigins: [origin] })
    isOk(await client.post(`/agents/${agent}/documents`, { title: 'Warranty', text: 'The warranty lasts three years.' }), 202)
    const built = await build({
      configFile: false,
      logLevel: 'silent',
      define: { 'process.env.NODE_ENV': '"production"' },
      build: { write: false, lib: { entry: PAGE, formats: ['iife'], name: 'page' } },
    })
    script = (built as { output: { code: string }[] }[])[0]!.output[0]!.code
    browser = await openBrowser()
    await until('it is read', async () => {
      return (await client.get(`/agents/${agent}/documents?status=ready`)).body.pagination.total === 1
    })
  })
  after(async () => {
    await browser?.close()
    server.close()
    server.closeAllConnections()
    await service.stop()
  })

  async function open(more: object = {}): Promise<Page> {
    const { token } = (await client.post(`/agents/${agent}/tokens`, { externalUserId: randomUUID() })).body
    const api = new URL(`/ai-sdk/v1/agents/${agent}/chat`, client.address.baseUrl).href
    const path = `/${pages.size}`
    pages.set(path, { api, token, id: 'chat', ...more })
    const page = await browser.newPage()
    await page.goto(origin + path)
    return page
  }
  const send = async (page: Page, text: string) => {
    await page.getByLabel('Message').fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }
  const lastReply = (page: Page) => page.locator('article.assistant').last().locator('span').textContent()

  test('a conversation, with its sources; the reply grows, can be made anew, and is taken up after a reload', async () => {
    const { promise: gate, resolve: go } = Promise.withResolvers<void>()
    model.behaviour = streams(['The warranty lasts three years [1][4]. So', ' they', ' say.'], {
      gates: [Promise.resolve(), gate],
    })
    const page = await open({ resume: true })
    await page.getByText('ready').waitFor()
    await send(page, 'How long is the warranty?')
    await until('the beginning', async () => (await lastReply(page)) === 'The warranty lasts three years [1]. So')
    await page.reload()
    await until('the beginning, again', async () => (await lastReply(page)) === 'The warranty lasts three years [1]. So')
    go()
    await page.getByText('ready').waitFor()
    assert.equal(await lastReply(page), 'The warranty lasts three years [1]. So they say.')
    assert.equal(await page.locator('cite').textContent(), '[1] Warranty')

    model.behaviour = says('Three years [1].')
    await send(page, 'How long again?')
    await until('a reply', async () => (await page.locator('article.assistant').count()) === 2)
    await page.getByText('ready').waitFor()
    model.behaviour = says('I said it: three years [1].')
    await page.getByRole('button', { name: 'Again' }).click()
    await until('another reply', async () => (await lastReply(page)) === 'I said it: three years [1].')
    const { sessions } = (await client.get(`/agents/${agent}/sessions`)).body
    assert.deepEqual(
      sessions.map(({ totalMessages }: { totalMessages: number }) => totalMessages),
      [4],
    )
    assert.equal(await page.getByRole('alert').count(), 0)
  })

  test('an error is told; a page of an origin that is not allowed gets nothing', async () => {
    const page = await open({ token: 'rpu_nothing' })
    await send(page, 'Hello')
    assert.match((await page.getByRole('alert').textContent())!, /"code":"unauthorized"/)
    isOk(await client.patch(`/agents/${agent}`, { allowedOrigins: [] }))
    const other = await open()
    await send(other, 'Hello')
    assert.match((await other.getByRole('alert').textContent())!, /Failed to fetch/)
  })
})
