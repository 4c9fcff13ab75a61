import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { openBrowser } from './browser.ts'
import { ChatSite, policyFor } from './chat-site.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { streams } from './model-server.ts'
import { until } from './poll.ts'
import { startService } from './service.ts'

/** Runs before a page's own code and records policy violations. */
const WATCH = `globalThis.violations = []
addEventListener('securitypolicyviolation', (e) => violations.push(e.effectiveDirective + ' ' + e.blockedURI), true)`

export type Stage = Awaited<ReturnType<typeof openStage>>

/** Opens a browser, a customer's site with a policy, and a service behind a proxy that can cut connections. One of each per test file. */
export async function openStage() {
  const [service, browser] = await Promise.all([startService(), openBrowser()])
  const { client } = service
  const user = randomUUID()
  const line = new CuttingProxy(Number(new URL(client.address.baseUrl).port))
  /** URL of the service through the proxy. */
  const host = `http://127.0.0.1:${await line.listen()}`
  const site = new ChatSite(
    async (agentId, ttlSeconds) => (await client.post(`/agents/${agentId}/tokens`, { externalUserId: user, ttlSeconds })).body,
  )
  site.policy = policyFor(host)
  const origin = await site.listen()

  /** Creates an agent that knows the shop's opening hours. */
  async function newAgent(settings: object = {}): Promise<string> {
    const id = await service.newAgent({ allowedOrigins: [origin], ...settings })
    await addDocument(id, 'Opening hours', 'The shop is open on Saturday from 10:00 to 16:00.')
    return id
  }
  async function addDocument(id: string, title: string, text: string): Promise<void> {
    await client.post(`/agents/${id}/documents`, { title, text })
    await until('the documents are ready', async () => {
      const { documents } = (await client.get(`/agents/${id}/documents`)).body
      return documents.every(({ status }: { status: string }) => status === 'ready')
    })
  }
  const agent = await newAgent()
  site.agent = agent

  const tag = (attributes = '', id = agent) =>
    `<script src="${host}/widget.js" data-agent="${id}" data-token-url="/chat-token" ${attributes}></script>`
  site.pages['/'] = pageOf(tag())

  async function newContext(): Promise<BrowserContext> {
    const made = await browser.newContext({ reducedMotion: 'reduce' })
    await made.addInitScript(WATCH)
    return made
  }
  const context = await newContext()
  const errors: string[] = []
  /** Tabs for reuse: a new tab costs half a second of processor time. */
  const idle: Page[] = []
  async function newTab(of: BrowserContext): Promise<Page> {
    const page = await of.newPage()
    page.on('pageerror', (error) => errors.push(String(error)))
    return page
  }
  /** Opens a tab with empty storage. */
  async function visit(path = '/', of = context): Promise<Page> {
    const page = (of === context && idle.pop()) || (await newTab(of))
    await page.goto(origin + path)
    return page
  }
  /** Resets a tab for reuse. It cannot remove an installed clock, so tests with a clock use their own context. */
  async function free(page: Page): Promise<void> {
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.evaluate('sessionStorage.clear()')
    await page.goto('about:blank')
    await page.emulateMedia({ colorScheme: null, reducedMotion: 'reduce' })
    await page.setViewportSize({ width: 1280, height: 720 })
    idle.push(page)
  }

  return {
    ...{ service, context, site, line, host, origin, user, agent, newAgent, addDocument, newContext, tag, visit },
    async open(path?: string, of?: BrowserContext): Promise<Page> {
      const page = await visit(path, of)
      await launcher(page).click()
      return page
    },
    /** Opens a tab that has a session from before the page load. */
    async visitIn(session: string, path = '/', of = context): Promise<Page> {
      const page = await visit(path, of)
      await page.evaluate(`sessionStorage.setItem('repartee:${agent}', '{"session":"${session}"}')`)
      return page
    },
    /** Returns all messages of the most recently active session. */
    async history(): Promise<{ id: string; role: string; content: string }[]> {
      const { sessions } = (await client.get(`/agents/${site.agent}/sessions?limit=1`)).body
      return (await client.get(`/agents/${site.agent}/sessions/${sessions[0].id}/messages`)).body.messages
    },
    /** Makes the model send a reply in two parts. The returned function releases the second part. */
    inHalves(first: string, second: string): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      service.model.behaviour = streams([first, second], { gates: [Promise.resolve(), promise] })
      return resolve
    },
    /** Call after each test: asserts that there were no policy violations and no errors. */
    async check(): Promise<void> {
      for (const page of browser.contexts().flatMap((of) => of.pages())) {
        if (idle.includes(page)) continue
        assert.deepEqual(await page.evaluate('globalThis.violations'), [], 'the policy holds')
        if (page.context() === context) await free(page)
        else await page.close()
      }
      assert.deepEqual(errors.splice(0), [], 'nothing throws in the page')
      service.model.reset()
      site.agent = agent
    },
    async close(): Promise<void> {
      await browser.close()
      site.close()
      line.close()
      await service.stop()
    },
  }
}

const BODY = '<main><h1>Lanterns</h1><a href="#all">All of them</a></main>'
export const pageOf = (scripts: string, body = BODY, attributes = 'lang="en"') =>
  `<!doctype html><html ${attributes}><head><meta charset="utf-8"><title>A shop</title>${scripts}</head><body>${body}</body></html>`

export const launcher = (page: Page): Locator => page.getByRole('button', { name: 'Open the chat' })
export const replies = (page: Page): Locator => page.locator('.reply')

/** Resolves to the last of `count` replies when it is complete. */
export async function isDone(page: Page, count = 1): Promise<Locator> {
  await replies(page)
    .and(page.locator('[data-state="done"]'))
    .nth(count - 1)
    .waitFor()
  return replies(page).nth(count - 1)
}

export async function ask(page: Page, text: string): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Write a message …' })
  await field.fill(text)
  await field.press('Enter')
}

/** Evaluates an expression in the page. `chat` is the root of the widget. */
export const inChat = (page: Page, expression: string): Promise<unknown> =>
  page.evaluate(`(({ shadowRoot: chat }) => ${expression})(document.querySelector('repartee-chat'))`)
