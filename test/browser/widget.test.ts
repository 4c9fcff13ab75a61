// The chat in pages of somebody else, in a real browser, with a real service behind a line that can be cut.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, afterEach, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { ChatSite, policyFor } from '../support/chat-site.ts'
import { CuttingProxy } from '../support/cutting-proxy.ts'
import { hostileMarkdown } from '../support/hostile-markdown.ts'
import { type Behaviour, refuses, says, streams } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { type Service, startService } from '../support/service.ts'

const WIDGET = new URL('../../static/widget/widget.js', import.meta.url)
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
const MAX_BYTES = 30_000
const USER = randomUUID()
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
/** Runs before anything of a page: what its policy forbade is put down. */
const WATCH = `globalThis.violations = []
addEventListener('securitypolicyviolation', (e) => violations.push(e.effectiveDirective + ' ' + e.blockedURI), true)`

let service: Service
let browser: Browser
let line: CuttingProxy
let site: ChatSite
let origin: string
let host: string
let agent: string
let context: BrowserContext
let errors: string[] = []

before(async () => {
  ;[service, browser] = await Promise.all([startService(), openBrowser()])
  const { client } = service
  line = new CuttingProxy(Number(new URL(client.address.baseUrl).port))
  host = `http://127.0.0.1:${await line.listen()}`
  site = new ChatSite(
    async (ttlSeconds) => (await client.post(`/agents/${agent}/tokens`, { externalUserId: USER, ttlSeconds })).body,
  )
  site.policy = policyFor(host)
  origin = await site.listen()
  agent = await newAgent()
  site.pages['/'] = pageOf(tag())
  context = await newContext()
})
after(async () => {
  await browser?.close()
  site?.close()
  line?.close()
  await service?.stop()
})
afterEach(async () => {
  for (const page of browser.contexts().flatMap((of) => of.pages())) {
    assert.deepEqual(await page.evaluate('globalThis.violations'), [], 'the policy holds')
    await page.close()
  }
  assert.deepEqual(errors, [], 'nothing throws in the page')
  service.model.reset()
})

async function newContext(): Promise<BrowserContext> {
  const made = await browser.newContext({ reducedMotion: 'reduce' })
  await made.addInitScript(WATCH)
  return made
}

async function newAgent(settings: object = {}): Promise<string> {
  const id = await service.newAgent({ allowedOrigins: [origin], ...settings })
  const markdown = '# Opening hours\n\nThe shop is open on Saturday from 10:00 to 16:00.'
  await service.client.post(`/agents/${id}/documents`, { title: 'Opening hours', markdown })
  await until('the document is ready', async () => {
    const { documents } = (await service.client.get(`/agents/${id}/documents`)).body
    return documents[0].status === 'ready'
  })
  return id
}

const tag = (attributes = '', id = agent) =>
  `<script src="${host}/widget.js" data-agent="${id}" data-token-url="/chat-token" ${attributes}></script>`
const pageOf = (scripts: string, body = '<main><h1>Lanterns</h1></main>', attributes = 'lang="en"') =>
  `<!doctype html><html ${attributes}><head><meta charset="utf-8"><title>A shop</title>${scripts}</head><body>${body}</body></html>`

/** A new tab, which remembers nothing. */
async function visit(path = '/', of = context): Promise<Page> {
  errors = []
  const page = await of.newPage()
  page.on('pageerror', (error) => errors.push(String(error)))
  await page.goto(origin + path)
  return page
}

const launcher = (page: Page) => page.getByRole('button', { name: 'Open the chat' })
const field = (page: Page) => page.getByRole('textbox', { name: 'Write a message …' })
const replies = (page: Page) => page.locator('.reply')
const isDone = (page: Page, count = 1): Promise<Locator> =>
  replies(page)
    .and(page.locator('[data-state="done"]'))
    .nth(count - 1)
    .waitFor()
    .then(() => replies(page).nth(count - 1))

async function ask(page: Page, text: string): Promise<void> {
  await field(page).fill(text)
  await field(page).press('Enter')
}

async function open(path?: string, of?: BrowserContext): Promise<Page> {
  const page = await visit(path, of)
  await launcher(page).click()
  return page
}

/** A value of the page; `chat` is the root of the widget. */
const inChat = (page: Page, expression: string): Promise<unknown> =>
  page.evaluate(`(({ shadowRoot: chat }) => ${expression})(document.querySelector('repartee-chat'))`)
const scrollUp = (page: Page) => inChat(page, "chat.querySelector('.log').scrollTop = 0")

/** All messages that the visitor has at the service, in the session that was active last. */
async function history(of = agent): Promise<{ id: string; role: string; content: string }[]> {
  const { sessions } = (await service.client.get(`/agents/${of}/sessions?limit=1`)).body
  return (await service.client.get(`/agents/${of}/sessions/${sessions[0].id}/messages`)).body.messages
}

/** A reply whose second half comes when it is let. */
function inHalves(first: string, second: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  service.model.behaviour = streams([first, second], { gates: [Promise.resolve(), promise] })
  return resolve
}

describe('the widget', () => {
  test(`is smaller than ${MAX_BYTES} bytes on the way`, () => {
    const { length } = gzipSync(readFileSync(WIDGET), { level: 9 })
    assert.ok(length < MAX_BYTES, `${length}`)
  })

  test('is opened by keyboard, has the focus while it is open, and gives it back', async () => {
    const asked = site.tokens.length
    const page = await visit()
    await page.keyboard.press('Tab')
    assert.equal(site.tokens.length, asked, 'nothing is asked for before it is opened')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Ask us' })
    await dialog.waitFor()
    const focused = () => page.evaluate("document.activeElement.shadowRoot?.activeElement?.localName ?? 'page'")
    assert.equal(await focused(), 'textarea')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    assert.equal(await page.evaluate('document.activeElement.shadowRoot.activeElement.className'), 'launcher')
    assert.equal(await launcher(page).getAttribute('aria-expanded'), 'false')
  })

  test('answers from an uploaded document, with the source, questions to go on with, and feedback', async () => {
    const id = await newAgent({ model: 'extractive', followUps: { enabled: true, count: 2 } })
    const text = 'A purchase can be returned within 30 days. Gift cards cannot be returned.'
    await service.client.post(`/agents/${id}/documents`, { title: 'Returns', text, metadata: {} })
    await until('it is ready', async () => {
      const { documents } = (await service.client.get(`/agents/${id}/documents`)).body
      return documents.every(({ status }: { status: string }) => status === 'ready')
    })
    const before = agent
    agent = id
    site.pages['/extractive'] = pageOf(tag('data-greeting="Good day." data-starters="When is the shop open on Saturday?"'))
    const page = await open('/extractive')
    await page.getByText('Good day.').waitFor()
    await page.getByRole('button', { name: 'When is the shop open on Saturday?' }).click()
    const reply = await isDone(page)
    assert.match(await reply.innerText(), /open on Saturday from 10:00 to 16:00/)
    await reply.getByRole('button', { name: 'Source 1: Opening hours' }).click()
    const card = reply.locator('details[open]')
    assert.match(await card.innerText(), /Opening hours\s+The shop is open on Saturday/)
    await reply.getByRole('button', { name: 'Good reply' }).click()
    const { id: messageId } = (await history())[1]!
    const { sessions } = (await service.client.get(`/agents/${id}/sessions`)).body
    const path = `/agents/${id}/sessions/${sessions[0].id}/messages/${messageId}`
    await until('the feedback is there', async () => (await service.client.get(path)).body.message.feedback?.rating === 'up')
    const [next] = (await service.client.get(path)).body.message.followUps
    await reply.getByRole('button', { name: next.text }).click()
    await isDone(page, 2)
    assert.equal((await history())[2]!.content, next.text)
    agent = before
  })

  test('shows a reply while it is written, and the HTML of it in the end', async () => {
    const release = inHalves('The **shop** is ', 'open. [1]')
    const page = await open()
    await ask(page, 'When is the shop open on Saturday?')
    const reply = replies(page)
    await reply.getByText('The shop is').waitFor()
    assert.equal(await reply.getAttribute('data-state'), 'writing')
    assert.equal(await reply.getAttribute('aria-live'), 'off', 'it is not read out piece by piece')
    release()
    await isDone(page)
    assert.equal(await reply.locator('strong').innerText(), 'shop')
    assert.equal(await reply.getAttribute('aria-live'), null)
  })

  test('stops a reply, and keeps what is written of it', async () => {
    inHalves('As far as this', ' and no further.')
    const page = await open()
    await ask(page, 'Tell me more.')
    await replies(page).getByText('As far as this').waitFor()
    await page.getByRole('button', { name: 'Stop the reply' }).click()
    await page.getByText('Stopped.').waitFor()
    assert.match((await history())[1]!.content, /As far as this/)
    assert.match(await replies(page).innerText(), /As far as this/)
  })

  test('says in plain words that a reply failed, and tries again with the same message', async () => {
    service.model.behaviour = refuses(500)
    const page = await open()
    await ask(page, 'Hello?')
    await page.getByText('The reply could not be written.').waitFor()
    service.model.behaviour = says('Here I am.')
    await page.getByRole('button', { name: 'Try again' }).click()
    await isDone(page)
    assert.deepEqual(
      (await history()).map(({ role, content }) => [role, content]),
      [
        ['USER', 'Hello?'],
        ['AI', '<p>Here I am.</p>\n'],
      ],
    )
  })
})

describe('a conversation', () => {
  test('is there after a reload, with its sources, and goes on; a new one begins without it', async () => {
    service.model.behaviour = says('The shop is open on Saturday from 10:00 to 16:00. [1]')
    const page = await open()
    await ask(page, 'When is the shop open on Saturday?')
    await isDone(page)
    await page.reload()
    await replies(page).locator('details').waitFor()
    await ask(page, 'And then?')
    await isDone(page, 2)
    assert.equal((await history()).length, 4)
    assert.equal(
      await page.evaluate('JSON.stringify(sessionStorage).includes("Saturday")'),
      false,
      'what was said is not kept here',
    )
    assert.equal(
      await page.evaluate(`JSON.stringify([sessionStorage, localStorage]).includes('rpu_')`),
      false,
      'nor is the token',
    )
    await page.getByRole('button', { name: 'New conversation' }).click()
    assert.equal(await replies(page).count(), 0)
    await ask(page, 'Something else.')
    await isDone(page)
    assert.equal((await history()).length, 2)
  })

  test('takes up a reply that is written while the page is loaded anew', async () => {
    const release = inHalves('Before the reload, ', 'and after it.')
    const page = await open()
    await ask(page, 'Go on.')
    await page.getByText('Before the reload,').waitFor()
    await page.reload()
    await page.getByText('Before the reload,').waitFor()
    release()
    assert.match(await (await isDone(page)).innerText(), /Before the reload, and after it\./)
    assert.equal((await history()).length, 2)
    assert.equal(service.model.calls.length, 1)
  })

  test('of another user is forgotten', async () => {
    const page = await visit()
    await page.evaluate(`sessionStorage.setItem('repartee:${agent}', '{"session":"${randomUUID()}"}')`)
    await page.reload()
    await launcher(page).click()
    await ask(page, 'Hello?')
    await isDone(page)
  })

  test('that is long is shown from its end, and further up when it is scrolled', async () => {
    const messages = Array.from({ length: 130 }, (_, i) => ({ role: i % 2 === 0 ? 'USER' : 'AI', content: `Line ${i}.` }))
    const made = await service.client.post(`/agents/${agent}/sessions/import`, { externalUserId: USER, messages })
    const page = await visit()
    await page.evaluate(`sessionStorage.setItem('repartee:${agent}', '{"session":"${made.body.session.id}"}')`)
    await page.reload()
    await launcher(page).click()
    const log = page.getByRole('log')
    await log.getByText('Line 129.').waitFor()
    assert.equal(await log.getByText('Line 60.').count(), 0)
    for (const line of ['Line 60.', 'Line 0.']) {
      await until(line, async () => {
        await scrollUp(page)
        return (await log.getByText(line, { exact: true }).count()) === 1
      })
    }
    assert.equal(await log.locator('.question, .reply').count(), 130)
  })
})

describe('a line that breaks', () => {
  test('in the middle of a reply loses nothing and doubles nothing', async () => {
    const release = inHalves('The first half, ', 'the second half.')
    const page = await open()
    await ask(page, 'Both halves, please.')
    await replies(page).getByText('The first half,').waitFor()
    line.cut()
    release()
    assert.match(await (await isDone(page)).innerText(), /^Reply:\s+The first half, the second half\.$/)
    assert.equal((await history()).length, 2)
    assert.equal(service.model.calls.length, 1)
  })

  test('while the device is offline: that is said, and what was written goes when it is back', async () => {
    const page = await open()
    await context.setOffline(true)
    await page.getByText('You are offline.').waitFor()
    await ask(page, 'Are you there?')
    await context.setOffline(false)
    await isDone(page)
    await page.getByText('You are offline.').waitFor({ state: 'hidden' })
    assert.equal((await history()).length, 2)
  })

  test('for good is said, and the page knows nothing of it', async () => {
    site.pages['/away'] = pageOf(tag('data-base-url="http://127.0.0.1:9/v1"'))
    site.policy = policyFor(`${host} http://127.0.0.1:9`)
    const page = await visit('/away', await newContext())
    await page.evaluate(`sessionStorage.setItem('repartee:${agent}', '{"session":"${randomUUID()}"}')`)
    await page.reload()
    await page.clock.install()
    await launcher(page).click()
    await until('it is said', async () => {
      await page.clock.runFor(5_000)
      return page.getByText('The chat cannot be reached at the moment.').isVisible()
    })
    site.policy = policyFor(host)
  })
})

describe('tokens', () => {
  test('that have ended are fetched anew', async () => {
    site.ttlSeconds = 1
    const page = await open()
    await ask(page, 'Hello?')
    await isDone(page)
    const token = service.client.as(site.tokens.at(-1)!)
    await until('it has ended', async () => (await token.get(`/agents/${agent}/sessions`)).status === 401)
    site.ttlSeconds = 3_600
    await ask(page, 'Once more?')
    await isDone(page, 2)
  })

  test('that are about to end are not used', async () => {
    const page = await open('/', await newContext())
    await ask(page, 'Hello?')
    await isDone(page)
    const given = site.tokens.length
    const refused: number[] = []
    page.on('response', (response) => response.status() === 401 && refused.push(401))
    await page.clock.setFixedTime(Date.now() + 3_590_000)
    await ask(page, 'Once more?')
    await isDone(page, 2)
    assert.ok(site.tokens.length > given)
    assert.deepEqual(refused, [])
  })

  test('that the page refuses are told as a sign-in that has ended', async () => {
    site.refusal = 403
    const page = await open()
    await ask(page, 'Hello?')
    await page.getByText('Your sign-in has ended.').waitFor()
    site.refusal = undefined
    await page.getByRole('button', { name: 'Try again' }).click()
    await isDone(page)
  })
})

describe('what a reply holds', () => {
  test('does nothing in the page, even where the service would let it through', async () => {
    site.pages['/open'] = pageOf(tag())
    const page = await visit('/open')
    const session = randomUUID()
    await page.evaluate(`sessionStorage.setItem('repartee:${agent}', '{"session":"${session}"}')`)
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(request.url()))
    const raw = [
      '<img src=x onerror="ran = 1">',
      '<script>ran = 1</script>',
      '<svg onload="ran = 1"><script>ran = 1</script></svg>',
      '<a href="javascript:ran=1">x</a>',
      '<iframe srcdoc="<script>top.ran = 1</script>"></iframe>',
      '<form action="https://evil.example"><button>x</button></form>',
      '<p style="position:fixed" onclick="ran = 1" id="title" class="launcher">x</p>',
      '<math><mtext><table><mglyph><style><img src=x onerror="ran = 1"></style></table></mtext></math>',
    ]
    const messages = [...raw, ...hostileMarkdown].map((text) => ({
      ...{ id: randomUUID(), role: 'AI', type: 'TEXT', createdAt: new Date().toISOString() },
      content: `<p>a</p>${text}`,
    }))
    await page.route(`${host}/v1/**`, (route) =>
      route.fulfill({
        headers: { 'access-control-allow-origin': origin, 'access-control-allow-headers': '*, authorization' },
        json: { success: true, messages, pagination: { hasMore: false, nextCursor: null, total: messages.length } },
      }),
    )
    await page.reload()
    await launcher(page).click()
    await replies(page).first().waitFor()
    await until('all are shown', async () => {
      await scrollUp(page)
      return (await replies(page).count()) === messages.length
    })
    const found = await page.evaluate(LOOK)
    assert.deepEqual(found, [])
    assert.equal(await page.evaluate('globalThis.ran'), undefined)
    const elsewhere = loaded.filter((url) => !url.startsWith(origin) && !url.startsWith(host))
    assert.deepEqual(
      elsewhere.filter((url) => !/^https?:/.test(url)),
      [],
    )
  })

  test('is text where it is Markdown', async () => {
    const messages = [{ role: 'AI', content: '**Not** <b>bold</b>\nbelow' }]
    const made = await service.client.post(`/agents/${agent}/sessions/import`, { externalUserId: USER, messages })
    const page = await visit()
    await page.evaluate(`sessionStorage.setItem('repartee:${agent}', '{"session":"${made.body.session.id}"}')`)
    await page.reload()
    await launcher(page).click()
    assert.equal(await replies(page).locator('.body').innerText(), '**Not** <b>bold</b>\nbelow')
  })
})

/** Finds elements and attributes of replies that none needs, after having fired at each what could start a handler. */
const LOOK = `(() => {
  const found = []
  const tags = /^(P|BR|HR|H[1-6]|BLOCKQUOTE|PRE|CODE|STRONG|EM|DEL|A|IMG|UL|OL|LI|TABLE|THEAD|TBODY|TR|TH|TD|INPUT|DIV)$/
  const names = /^(href|src|alt|title|rel|target|class|start|type|checked|disabled|tabindex|style)$/
  for (const element of document.querySelector('repartee-chat').shadowRoot.querySelectorAll('.body *')) {
    if (!tags.test(element.tagName)) found.push(element.outerHTML)
    for (const { name, value } of element.attributes) {
      if (!names.test(name) || (name === 'class' && !/^(plain|wide|language-\\S+)$/.test(value))) found.push(element.outerHTML)
      if (name === 'style' && !/^text-align: (left|right|center);$/.test(value)) found.push(element.outerHTML)
    }
    if (element.tagName === 'A' && element.hasAttribute('href') && !/^(https?|mailto):$/.test(element.protocol)) found.push(element.href)
    for (const name of ['load', 'error', 'mouseover', 'focus', 'toggle']) element.dispatchEvent(new Event(name))
  }
  return found
})()`

describe('the page', () => {
  const BODY = `<main><h1>Lanterns</h1><p>Warm light</p><p hidden>unseen</p><p class="gone">unseen</p>
    <form><input value="typed-1"><textarea>typed-2</textarea><div contenteditable>typed-3</div></form></main><aside>Elsewhere</aside><link rel="stylesheet" href="/style.css">`

  test('is told to the agent only where its owner wants that, and never what was typed into it', async () => {
    const prompt = async (path: string) => {
      const page = await open(path)
      await ask(page, 'What is this page about?')
      await isDone(page)
      await page.close()
      return JSON.stringify(service.model.lastPrompt)
    }
    site.pages['/style.css'] = '.gone { display: none }'
    site.pages['/plain'] = pageOf(tag(), BODY)
    site.pages['/page'] = pageOf(tag('data-context="page"'), BODY)
    site.pages['/aside'] = pageOf(tag('data-context="aside"'), BODY)
    site.pages['/function'] = `${pageOf('', BODY)}${tag('', '')}<script src="/function.js"></script>`
    site.pages['/function.js'] =
      `Repartee.create({ agentId: '${agent}', tokenUrl: '/chat-token', context: async () => 'It is product 17.' })`
    assert.doesNotMatch(await prompt('/plain'), /Warm light|A shop/)
    const told = await prompt('/page')
    assert.match(told, /A shop/)
    assert.match(told, new RegExp(`${origin}/page`))
    assert.match(told, /Lanterns.*Warm light/)
    assert.doesNotMatch(told, /typed|unseen|Elsewhere/)
    assert.match(await prompt('/aside'), /Elsewhere/)
    assert.match(await prompt('/function'), /It is product 17\./)
  })

  test('may have two tags, hears what happens, and can do all that a visitor can', async () => {
    site.pages['/api'] = `${pageOf(tag() + tag())}<script src="/api.js"></script>`
    site.pages['/api.js'] = `globalThis.heard = []
      for (const event of ['open', 'close', 'message', 'error'])
        Repartee.on(event, (detail) => heard.push([event, detail.role, detail.text ?? detail.html].filter(Boolean).join(' ')))`
    const page = await visit('/api')
    await launcher(page).waitFor()
    assert.equal(await page.locator('repartee-chat').count(), 1)
    await page.evaluate("Repartee.open(), Repartee.send('Hello?')")
    await isDone(page)
    await page.evaluate('Repartee.close()')
    assert.deepEqual(await page.evaluate('heard'), ['open', 'message user Hello?', 'message agent <p>A reply.</p>\n', 'close'])
    const globals = await page.evaluate(`(() => {
      const frame = document.body.appendChild(document.createElement('iframe'))
      const usual = new Set(Object.getOwnPropertyNames(frame.contentWindow))
      frame.remove()
      return Object.getOwnPropertyNames(window).filter((name) => !usual.has(name) && !/^(heard|violations|__pw.*|__playwright.*|0)$/.test(name))
    })()`)
    assert.deepEqual(globals, ['Repartee'])
    await page.evaluate('Repartee.destroy()')
    assert.equal(await page.locator('repartee-chat').count(), 0)
  })

  test('keeps its styles to itself, and holds a chat where it wants one', async () => {
    const element = `<repartee-chat agent="${agent}" token-url="/chat-token"></repartee-chat>`
    const styles =
      '<style>* { color: red; font-size: 40px; direction: inherit } button { display: none } p { display: none }</style>'
    site.pages['/open/inline'] = pageOf(tag('', '') + styles, `<main><h1>Lanterns</h1>${element}</main>`)
    const page = await visit('/open/inline')
    await page.getByRole('region', { name: 'Ask us' }).waitFor()
    await ask(page, 'Hello?')
    const reply = await isDone(page)
    assert.equal(await reply.isVisible(), true)
    const style = "getComputedStyle(chat.querySelector('.reply p'))"
    assert.equal(await inChat(page, `${style}.color + ${style}.fontSize + ${style}.display`), 'rgb(24, 26, 32)15pxblock')
    assert.equal(await page.evaluate("getComputedStyle(document.querySelector('h1')).color"), 'rgb(255, 0, 0)')
    await page.evaluate("document.querySelector('repartee-chat').setAttribute('theme', 'dark')")
    assert.equal(await inChat(page, `${style}.color`), 'rgb(236, 238, 243)')
    assert.equal(await page.getByRole('button', { name: 'Close the chat' }).count(), 0)
  })

  test('gives the chat its language and its direction', async () => {
    site.pages['/ar'] = pageOf(tag(`data-labels='{"title":"متجر"}'`), '<main></main>', 'lang="ar"')
    site.pages['/de'] = pageOf(tag(), '<main></main>', 'lang="de-AT"')
    const page = await visit('/ar')
    await page.getByRole('button', { name: 'فتح المحادثة' }).click()
    const dialog = page.getByRole('dialog', { name: 'متجر' })
    assert.equal(await inChat(page, "getComputedStyle(chat.querySelector('.panel')).direction"), 'rtl')
    assert.equal((await dialog.boundingBox())!.x, 20, 'in the corner where lines end')
    await page.goto(`${origin}/de`)
    await page.getByRole('dialog', { name: 'Fragen Sie uns' }).waitFor()
  })
})

describe('what is seen', () => {
  const audit = async (page: Page, what: string) => {
    await page.evaluate(AXE)
    const { violations } = (await page.evaluate('axe.run()')) as {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
    }
    const told = violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('; ')}`,
    )
    assert.deepEqual(told, [], what)
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`can be used by everybody, ${colorScheme}, closed and open, on a phone too`, async () => {
      const text =
        'Open on Saturday from 10:00 to 16:00. [1]\n\n> Quoted `code` https://example.com\n\n| a | b |\n|--|--:|\n| 1 | 2 |'
      const answers: Behaviour = (call, response) => says(text)(call, response)
      service.model.behaviour = answers
      const page = await visit()
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await launcher(page).waitFor()
      await audit(page, 'closed')
      await launcher(page).click()
      await ask(page, 'When is the shop open on Saturday?')
      await isDone(page)
      service.model.behaviour = refuses(500)
      await ask(page, 'And on Sunday?')
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      await audit(page, 'open')
      await page.setViewportSize({ width: 390, height: 844 })
      await until('it fills the screen', async () => (await page.getByRole('dialog').getAttribute('aria-modal')) === 'true')
      const box = await page.getByRole('dialog').boundingBox()
      assert.deepEqual(box, { x: 0, y: 0, width: 390, height: 844 })
      await audit(page, 'on a phone')
    })
  }
})

describe('docs/widget.md', () => {
  const text = readFileSync(new URL('../../docs/widget.md', import.meta.url), 'utf8')
  const blocks = (language: string) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, block]) => block!)

  for (const [i, block] of blocks('html').entries()) {
    test(`block ${i + 1} of HTML does what the page says: ${block.split('\n', 1)[0]}`, async () => {
      const own = block.replaceAll('https://chat.example.com', host).replaceAll(UUID, agent)
      const isTheme = own.startsWith('<style>')
      site.pages[`/open/doc-${i}`] = pageOf('', `<main><h1>Lanterns</h1>${own}${isTheme ? tag() : ''}</main>`)
      const page = await visit(`/open/doc-${i}`)
      // The page's own button comes first, where there is one.
      if (!own.includes('<repartee-chat'))
        await page
          .getByRole('button', { name: /Ask us|Open the chat/ })
          .first()
          .click()
      await ask(page, 'When is the shop open?')
      await isDone(page)
      const accent = await inChat(page, "getComputedStyle(chat.querySelector('.question')).backgroundColor")
      assert.equal(accent, isTheme ? 'rgb(11, 110, 79)' : 'rgb(36, 87, 230)')
    })
  }

  test('the function of the server makes tokens', async () => {
    const [block] = blocks('js')
    const { secret } = (await service.client.post('/keys', { name: 'site', scopes: ['chat'], agentIds: [agent] })).body
    Object.assign(process.env, { BASE: service.client.address.baseUrl, KEY: secret, AGENT: agent })
    const { chatToken } = await import(`data:text/javascript,${encodeURIComponent(block!)}`)
    const { token, expiresAt } = await chatToken(USER)
    assert.ok(Date.parse(expiresAt) > Date.now())
    assert.equal((await service.client.as(token).get(`/agents/${agent}/sessions`)).status, 200)
  })

  test('names the policy that the pages here have, every attribute, every text and every property', () => {
    assert.ok(text.includes(policyFor('https://chat.example.com').replace("default-src 'none'; ", '')))
    const source = (path: string) => readFileSync(new URL(`../../widget/src/${path}`, import.meta.url), 'utf8')
    const attributes = /ATTRIBUTES.*?\{(.*?)\}/s.exec(source('options.ts'))![1]!.matchAll(/^ {2}'?([a-z-]+)'?:/gm)
    const labels = source('labels/en.ts').matchAll(/^ {2}(\w+):/gm)
    const properties = source('style.css').matchAll(/var\((--repartee-[a-z-]+)/g)
    const names = [
      ...Array.from(attributes, ([, name]) => `data-${name}`),
      ...Array.from(labels, ([, name]) => name!),
      ...Array.from(properties, ([, name]) => name!),
    ]
    assert.ok(names.length > 60, String(names.length))
    assert.deepEqual(
      names.filter((name) => !text.includes(`\`${name}\``)),
      [],
    )
  })
})
