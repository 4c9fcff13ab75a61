// The chat in a page of somebody else, in a real browser, with a real service behind a line that can be cut.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, afterEach, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { policyFor } from '../support/chat-site.ts'
import { ask, inChat, isDone, launcher, openStage, pageOf, replies } from '../support/chat-stage.ts'
import { hostileMarkdown } from '../support/hostile-markdown.ts'
import { refuses, says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'

const WIDGET = new URL('../../static/widget/widget.js', import.meta.url)
const MAX_BYTES = 30_000

const stage = await openStage()
const { service, context, site, line, host, origin, user, agent } = stage
const { newAgent, addDocument, newContext, tag, visit, visitIn, open, history, inHalves } = stage
afterEach(() => stage.check())
after(() => stage.close())

const scrollUp = (page: Page) => inChat(page, "chat.querySelector('.log').scrollTop = 0")

describe('the widget', () => {
  test(`is smaller than ${MAX_BYTES} bytes on the way`, () => {
    const { length } = gzipSync(readFileSync(WIDGET), { level: 9 })
    assert.ok(length < MAX_BYTES, `${length}`)
  })

  test('is opened by keyboard, has the focus while it is open, and gives it back', async () => {
    const asked = site.tokens.length
    const page = await visit()
    await page.keyboard.press('Tab')
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
    const dogs =
      '## Can I bring my dog into the shop on Saturday?\n\nPets wait outside. Water is there. The shop is open to people only, on Saturday, too.'
    await addDocument(id, 'Dogs', dogs)
    site.agent = id
    site.pages['/extractive'] = pageOf(tag('data-greeting="Good day." data-starters="When is the shop open on Saturday?"', id))
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
  })

  test('says what the agent says before the first message, where the page does not', async () => {
    const id = await newAgent({
      model: 'extractive',
      greeting: 'How can I help?',
      starters: ['When is the shop open on Saturday?'],
    })
    site.agent = id
    site.pages['/own'] = pageOf(tag('data-starters=""', id))
    site.pages['/theirs'] = pageOf(tag('', id))
    const starter = (page: Page) => page.getByRole('button', { name: 'When is the shop open on Saturday?' })
    const theirs = await open('/theirs')
    await theirs.getByText('How can I help?').waitFor()
    await starter(theirs).click()
    await isDone(theirs)
    const own = await open('/own')
    await own.getByText('How can I help?').waitFor()
    assert.equal(await starter(own).count(), 0)
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
    assert.equal(await inChat(page, 'chat.activeElement?.localName'), 'textarea', 'the focus stays in the chat')
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
  test('with a message that failed, and one behind it: it is said anew at the end', async () => {
    service.model.behaviour = refuses(500)
    const page = await open()
    await ask(page, 'First?')
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    service.model.behaviour = says('Here I am.')
    await ask(page, 'Second?')
    await isDone(page)
    await page.getByRole('button', { name: 'Try again' }).click()
    await isDone(page, 2)
    const shown = page.locator('.question p')
    assert.deepEqual(await shown.allTextContents(), ['First?', 'Second?', 'First?'])
    assert.deepEqual(
      (await history()).filter(({ role }) => role === 'USER').map(({ content }) => content),
      ['First?', 'Second?', 'First?'],
    )
  })

  test('that is left for a new one while it is being loaded does not come back', async () => {
    const messages = [{ role: 'AI', content: 'Of the one before.' }]
    const made = await service.client.post(`/agents/${agent}/sessions/import`, { externalUserId: user, messages })
    const page = await visitIn(made.body.session.id)
    await page.reload()
    const [asked, given] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/sessions/*', async (route) => {
      asked.resolve()
      await given.promise
      await route.continue().catch(() => {})
    })
    await launcher(page).click()
    await asked.promise
    await page.getByRole('button', { name: 'New conversation' }).click()
    given.resolve()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await ask(page, 'Something else.')
    await isDone(page)
    assert.equal(await replies(page).count(), 1)
    assert.equal((await history()).length, 2)
  })

  test('that a device remembers is the same in all its tabs, and so is a new one', async () => {
    site.pages['/device'] = pageOf(tag('data-remember="device"'))
    const of = await newContext()
    const first = await open('/device', of)
    const second = await open('/device', of)
    await ask(first, 'From the first tab.')
    await isDone(first)
    await isDone(second)
    assert.deepEqual(await second.locator('.question p').allTextContents(), ['From the first tab.'])
    await ask(second, 'From the second tab.')
    await isDone(second, 2)
    await isDone(first, 2)
    assert.equal((await history()).length, 4)
    await first.getByRole('button', { name: 'New conversation' }).click()
    await until('it is empty there, too', async () => (await replies(second).count()) === 0)
    await ask(first, 'A new one.')
    await isDone(second)
    await second.getByRole('button', { name: 'Close the chat' }).first().click()
    await first.reload()
    await isDone(first)
    assert.deepEqual(await first.locator('.question p').allTextContents(), ['A new one.'])
  })

  test('is there after a reload, with its sources, and goes on; a new one begins without it', async () => {
    service.model.behaviour = says('The shop is open on Saturday from 10:00 to 16:00. [1]')
    const page = await open()
    await ask(page, 'When is the shop open on Saturday?')
    await isDone(page)
    await page.reload()
    await replies(page).locator('details').waitFor()
    assert.equal(await replies(page).getAttribute('aria-live'), 'off', 'what was there before is not read out')
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
    const page = await visitIn(randomUUID())
    await page.reload()
    await launcher(page).click()
    await ask(page, 'Hello?')
    await isDone(page)
  })

  test('that is long is shown from its end, and further up when it is scrolled', async () => {
    const messages = Array.from({ length: 130 }, (_, i) => ({ role: i % 2 === 0 ? 'USER' : 'AI', content: `Line ${i}.` }))
    const made = await service.client.post(`/agents/${agent}/sessions/import`, { externalUserId: user, messages })
    const page = await visitIn(made.body.session.id)
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

describe('a slow line', () => {
  test('shows what was asked before it has arrived, asks it once however often it is sent, and shows the reply as it comes', async () => {
    const page = await visit('/', await newContext())
    const slow = await page.context().newCDPSession(page)
    const phone = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 }
    await slow.send('Network.emulateNetworkConditions', phone)
    await launcher(page).click()
    const release = inHalves('The first half, ', 'the second half.')
    await page.getByRole('textbox').fill('Are you there?')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await page.getByText('Are you there?').waitFor()
    assert.equal(service.model.calls.length, 0, 'it is seen before it has arrived')
    await replies(page).getByText('The first half,').waitFor()
    release()
    assert.match(await (await isDone(page)).innerText(), /The first half, the second half\.$/)
    assert.equal((await history()).length, 2)
    assert.equal(service.model.calls.length, 1)
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

  test('before a message arrives: after a reload the message is in the field again, once', async () => {
    const page = await open()
    const field = page.getByRole('textbox', { name: 'Write a message …' })
    await page.route('**/messages', (route) => route.abort())
    await ask(page, 'Are you there?')
    await page.locator('.question').waitFor()
    await page.reload()
    await until('it is in the field', async () => (await field.inputValue()) === 'Are you there?')
    await page.unrouteAll()
    await field.press('Enter')
    await isDone(page)
    assert.equal((await history()).length, 2)
    await page.reload()
    await isDone(page)
    assert.equal(await field.inputValue(), '')
  })

  test('for good is said, and the page knows nothing of it', async () => {
    site.pages['/away'] = pageOf(tag('data-base-url="http://127.0.0.1:9/v1"'))
    site.policy = policyFor(`${host} http://127.0.0.1:9`)
    const page = await visitIn(randomUUID(), '/away', await newContext())
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
        json: { success: true, messages, message: { turn: 'done' } },
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
    const made = await service.client.post(`/agents/${agent}/sessions/import`, { externalUserId: user, messages })
    const page = await visitIn(made.body.session.id)
    await page.reload()
    await launcher(page).click()
    assert.equal(await replies(page).locator('.body').innerText(), '**Not** <b>bold</b>\nbelow')
  })
})

describe('pictures of replies that were kept', () => {
  const PICTURES = 'https://pictures.example'
  before(() => {
    site.policy = `${policyFor(host)}; img-src ${PICTURES}`
  })
  after(() => {
    site.policy = policyFor(host)
  })
  const shownAfterReload = async (session: string, name: string): Promise<[string[], string]> => {
    const page = await visitIn(session)
    const asked: string[] = []
    await page.route(`${PICTURES}/**`, (route) => {
      asked.push(new URL(route.request().url()).pathname)
      return route.fulfill({ status: 204 })
    })
    await page.reload()
    await launcher(page).click()
    await page.getByText(name).waitFor()
    // Its sources and its format come when it is looked at.
    await page.waitForLoadState('networkidle')
    return [asked, await replies(page).last().locator('.body').innerText()]
  }

  test('are not loaded where the reply is Markdown, which begins as HTML does', async () => {
    const content = `<img src="${PICTURES}/leak?order=4711" alt="">\n\nYour order is on its way.`
    const messages = [{ role: 'AI', content }]
    const made = await service.client.post(`/agents/${agent}/sessions/import`, { externalUserId: user, messages })
    const [asked, shown] = await shownAfterReload(made.body.session.id, 'Your order')
    assert.deepEqual(asked, [])
    assert.equal(shown, content)
  })

  test('are shown where the service made them HTML for a host that the agent lists', async () => {
    const id = await newAgent({ imageHosts: ['pictures.example'] })
    site.agent = id
    site.pages['/pictures'] = pageOf(tag('', id))
    service.model.behaviour = says(`![A lamp](${PICTURES}/lamp.png)\n\nThe lamp.`)
    const session = (await service.client.post(`/agents/${id}/sessions`, { externalUserId: user })).body.session.id
    await service.client.post(`/agents/${id}/sessions/${session}/messages`, { message: 'Show it', format: 'html' })
    const page = await visit('/pictures')
    const asked = page.waitForRequest(`${PICTURES}/lamp.png`)
    await page.evaluate(`sessionStorage.setItem('repartee:${id}', '{"session":"${session}"}')`)
    await page.reload()
    await launcher(page).click()
    await asked
    service.model.reset()
    site.agent = agent
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
