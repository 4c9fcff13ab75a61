// useSession in a real page: Chromium, React under StrictMode, another origin, tokens of a user.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { build, defaultClientConditions } from 'vite'
import { Repartee } from '../../client/src/index.ts'
import { openBrowser } from '../support/browser.ts'
import { fails, says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { startService } from '../support/service.ts'
import { Speaker } from '../support/speaker.ts'

const PAGE = fileURLToPath(new URL('../support/hook-page.js', import.meta.url))
const out = await mkdtemp(join(tmpdir(), 'repartee-hook-'))
await build({
  configFile: false,
  logLevel: 'error',
  define: { 'process.env.NODE_ENV': '"development"' },
  resolve: { conditions: ['repartee-source', ...defaultClientConditions] },
  build: { outDir: out, minify: false, lib: { entry: PAGE, formats: ['es'], fileName: () => 'page.js' } },
})

const service = await startService({ REPARTEE_ALLOWED_ORIGINS: '*' })
const { model } = service
const client = new Repartee({ baseUrl: service.client.address.baseUrl, key: service.client.key })
const externalUserId = crypto.randomUUID()
let agentId: string

/** The site of somebody who shows the conversation: its page, and tokens for the user who is signed in there. */
const site = createServer(async (request, response) => {
  if (request.url === '/token') response.end((await client.tokens.create({ agentId, externalUserId })).token)
  else if (request.url === '/page.js')
    response.setHeader('content-type', 'text/javascript').end(readFileSync(join(out, 'page.js')))
  else if (request.url === '/')
    response
      .setHeader('content-type', 'text/html')
      .end('<!doctype html><link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/page.js"></script>')
  else response.writeHead(404).end()
})
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
const browser = await openBrowser()
after(async () => {
  await browser.close()
  site.close()
  await service.stop()
  await rm(out, { recursive: true })
})

let page: Page
let problems: string[]
let speaker: Speaker
beforeEach(async () => {
  model.reset()
  speaker = new Speaker()
  model.behaviour = speaker.behaviour
  agentId = await service.newAgent()
  await page?.close()
  page = await browser.newPage()
  problems = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text())
  })
})

async function open(sessionId?: string): Promise<void> {
  const settings = encodeURIComponent(JSON.stringify({ baseUrl: service.client.address.baseUrl, agentId, sessionId }))
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/#${settings}`)
  await page.waitForSelector('main')
}
const say = async (text: string) => {
  await page.fill('input', text)
  await page.click('#send')
}
const shown = () => page.locator('li').allTextContents()
const attribute = (name: string) => page.locator('main').getAttribute(`data-${name}`)
const is = (status: string) => page.waitForSelector(`main[data-status=${status}]`)
const shows = async (...lines: string[]) => {
  await until('the messages are shown', async () => (await shown()).join('\n') === lines.join('\n')).catch(async (error) => {
    assert.deepEqual(await shown(), lines)
    throw error
  })
}
const sessionsOf = async () => (await client.sessions.list({ agentId })).sessions

describe('useSession', () => {
  test('shows the reply as it grows, in one session, which stays when its id is passed in', async () => {
    await open()
    await is('ready')
    await say('Hello')
    await is('waiting')
    await speaker.say('Good ')
    await is('streaming')
    await shows('USER Hello', 'AI Good ')
    await page.click('#keep')
    await speaker.say('day.')
    await shows('USER Hello', 'AI Good day.')
    await speaker.end()
    await is('ready')
    await shows('USER Hello', 'AI Good day.')
    const made = await sessionsOf()
    assert.deepEqual(
      made.map(({ id, userSessionId }) => [id, userSessionId]),
      [[await attribute('session'), externalUserId]],
    )
    await page.click('#new')
    await shows()
    model.behaviour = says('Another.')
    await say('Once more')
    await shows('USER Once more', 'AI Another.')
    assert.equal((await sessionsOf()).length, 2)
    assert.deepEqual(problems, [])
  })

  test('takes up a turn that is running when the page is loaded again', async () => {
    const { session } = await client.sessions.create({ agentId, externalUserId })
    await open(session.id)
    await is('ready')
    await say('Hello')
    await speaker.say('Good ')
    await shows('USER Hello', 'AI Good ')
    await page.reload()
    await shows('USER Hello', 'AI Good ')
    await is('streaming')
    await speaker.say('day.')
    await speaker.end()
    await is('ready')
    await shows('USER Hello', 'AI Good day.')
    assert.deepEqual(problems, [])
  })

  test('shows what failed, and sends the same text as the same message', async () => {
    model.behaviour = fails('Half')
    await open()
    await say('Hello')
    await page.waitForSelector('main[data-error=model_failed]')
    await shows('USER Hello')
    assert.equal(await page.locator('li').getAttribute('data-turn'), 'failed')
    model.behaviour = says('Whole.')
    await say('Hello')
    await shows('USER Hello', 'AI Whole.')
    await is('ready')
    assert.equal(await attribute('error'), null)
    assert.equal((await sessionsOf())[0]?.totalMessages, 2)
  })

  test('stops a reply, has it made anew, and rates it', async () => {
    await open()
    await say('Hello')
    await speaker.say('Good ')
    await is('streaming')
    await page.click('#stop')
    await is('ready')
    await shows('USER Hello', 'AI Good ')
    speaker = new Speaker()
    model.behaviour = speaker.behaviour
    await page.click('#regenerate')
    await is('waiting')
    await speaker.say('Better.')
    await shows('USER Hello', 'AI Better.')
    await speaker.end()
    await is('ready')
    await page.click('#rate')
    await page.waitForSelector('li[data-rating=up]')
    const sessionId = (await attribute('session'))!
    await page.goto('about:blank')
    await open(sessionId)
    await page.waitForSelector('li[data-rating=up]')
    await shows('USER Hello', 'AI Better.')
    assert.deepEqual(problems, [])
  })

  test('tells what the reply cites, and what can be asked next', async () => {
    const agent = { model: 'extractive', followUps: { enabled: true } }
    agentId = await service.newAgent(agent)
    const text = '# Kettle\n\nThe kettle weighs 900 grams.\n\n# Pot\n\nThe pot weighs 2 kilograms.'
    const { document } = await client.documents.add({ agentId, title: 'Kettle', markdown: text })
    await client.documents.whenDone({ agentId, documentId: document.id })
    await open()
    await say('How many grams does the kettle weigh?')
    await is('ready')
    await until('it is told', async () => (await page.textContent('#sources')) === 'Kettle')
    assert.deepEqual(problems, [])
  })
})
