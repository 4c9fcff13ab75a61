// The names of agents in tables of the console cost no request for each agent.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { Console } from '../support/console.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

/** The console reads the list of agents in pages of so many. */
const PAGE = 100

describe('names of agents in tables', { skip: needsProcess }, () => {
  let service: Service
  let browser: Browser
  const deleted: string[] = []
  before(async () => {
    ;[service, browser] = await Promise.all([startService(), openBrowser()])
    const { client } = service
    const bind = (name: string, agentId: string) => client.post('/keys', { name, scopes: ['chat'], agentIds: [agentId] })
    const oldest = await service.newAgent({ name: 'Oldest' })
    await bind('Key of the oldest', oldest)
    for (let i = 0; i < 3; i++) {
      const agentId = await service.newAgent({ name: 'Deleted' })
      await bind(`Key ${i}`, agentId)
      deleted.push(agentId)
    }
    for (let i = 0; i < PAGE; i++) await service.newAgent({ name: `Newer ${i}` })
    for (const agentId of deleted) await client.delete(`/agents/${agentId}`)
    await client.patch(`/agents/${oldest}`, { greeting: 'Hello' })
  })
  after(async () => {
    await Promise.all([browser?.close(), service?.stop()])
  })

  for (const path of ['/keys', '/audit']) {
    test(`${path} reads the list, page by page, and no agent by itself; deleted agents show their id`, async () => {
      const opened = await Console.open(browser, service.client.address.baseUrl, { key: service.client.key })
      const asked: string[] = []
      opened.page.on('request', (request) => {
        const { pathname } = new URL(request.url())
        if (request.method() === 'GET' && /^\/v1\/agents(\/[^/]+)?$/.test(pathname)) asked.push(pathname)
      })
      const page = await opened.goto(path)
      await page.getByRole('row').getByText('Oldest', { exact: true }).first().waitFor()
      for (const id of deleted) await page.getByRole('row').getByTitle(id).first().waitFor()
      assert.deepEqual(
        asked.filter((pathname) => pathname !== '/v1/agents'),
        [],
      )
      assert.ok(asked.length <= 2, `${asked.length} requests`)
      assert.deepEqual(opened.troubles, [])
      await opened.close()
    })
  }
})
