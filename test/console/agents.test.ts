// Agents in the console: made, set up, tried and deleted, by keyboard and by mouse.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { Console } from '../support/console.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

describe('agents in the console', { skip: needsProcess, concurrency: 3 }, () => {
  let service: Service
  let browser: Browser
  before(async () => {
    ;[service, browser] = await Promise.all([startService(), openBrowser()])
  })
  after(() => Promise.all([browser?.close(), service?.stop()]))

  const open = () => Console.open(browser, service.client.address.baseUrl, { key: service.client.key })
  const agentsOf = async () => (await service.client.get('/agents')).body.agents as Record<string, unknown>[]
  const agent = async (id: string) => (await service.client.get(`/agents/${id}`)).body.agent
  /** Presses Tab until something is focused. */
  const tabTo = async (page: Page, name: RegExp) => {
    const focused = `(() => { const it = document.activeElement; return [it.ariaLabel, ...[...(it.labels ?? [])].map((l) => l.innerText), it.innerText].join(' ') })()`
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('Tab')
      if (name.test(String(await page.evaluate(focused)))) return
    }
    throw new Error(`Tab does not lead to ${name}`)
  }

  test('an agent is made with the keyboard alone', async () => {
    const console = await open()
    const page = await console.goto('/')
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.innerText'), 'Skip to the content')
    await page.keyboard.press('Enter')
    await tabTo(page, /Create an agent/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Create an agent' }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.localName'), 'h1', 'reading goes on at the heading')
    await tabTo(page, /Documentation assistant/)
    await page.keyboard.press('ArrowRight')
    await tabTo(page, /^ *Name/)
    assert.equal(await page.getByLabel('Name').inputValue(), 'Customer support')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Lamps & more')
    await page.keyboard.press('Enter')
    await page.getByRole('status').filter({ hasText: 'Lamps & more is there' }).waitFor()
    await page.getByRole('heading', { level: 1, name: 'Knowledge' }).waitFor()
    const made = (await agentsOf()).find(({ name }) => name === 'Lamps & more')
    assert.match(String(made!.instructions), /customers of our shop/)
    assert.equal((made!.starters as string[]).length, 3)
    assert.deepEqual(console.troubles, [])
    await console.close()
  })

  test('every field of an agent is saved, and nothing that was not changed', async () => {
    const id = await service.newAgent({ name: 'Atlas', temperature: 0.5, budget: { tokensPerDay: 7 } })
    const console = await open()
    const page = await console.goto(`/agents/${id}`)
    const fill = async (label: string, text: string) => page.getByRole('textbox', { name: label, exact: true }).fill(text)
    await fill('Greeting', 'Hello!')
    await page.getByRole('button', { name: 'Add a question' }).click()
    await page.keyboard.type('What is it?')
    await fill('Temperature', '')
    await fill('Longest reply', '900')
    await page.getByText('Offer follow-up questions').click()
    await page.getByRole('textbox', { name: 'How many, at most' }).fill('5')
    await fill('Least confidence', '0.3')
    await fill('Only documents with this metadata', '{"team":"sales"}')
    await fill('US dollars a day', '2.5')
    await fill('Keep conversations for', '30')
    await page.getByRole('button', { name: 'Add an origin' }).click()
    await page.keyboard.type('https://www.example.com')
    let sent: unknown
    page.on('request', (request) => {
      if (request.method() === 'PATCH') sent = request.postDataJSON()
    })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Everything is saved.').waitFor()
    await until('the focus is there', () => page.evaluate(`document.activeElement.innerText === 'Everything is saved.'`))
    assert.deepEqual(sent, {
      greeting: 'Hello!',
      starters: ['What is it?'],
      temperature: null,
      maxOutputTokens: 900,
      followUps: { enabled: true, count: 5 },
      retrieval: { topK: 6, minScore: 0.3, mode: 'lexical', rerank: false, filter: { team: 'sales' } },
      budget: { tokensPerDay: 7, costPerDay: 2.5, tokensPerUserPerDay: null },
      retentionDays: 30,
      allowedOrigins: ['https://www.example.com'],
    })
    const { stats: _, ...saved } = await agent(id)
    for (const [field, value] of Object.entries(sent as object)) assert.deepEqual(saved[field], value, field)
    await console.close()
  })

  test('what the service says of a field stands at the field, which takes the focus', async () => {
    const id = await service.newAgent({ name: 'Atlas' })
    const console = await open()
    const page = await console.goto(`/agents/${id}`)
    await page.getByRole('button', { name: 'Add an origin' }).click()
    await page.keyboard.type('www.example.com')
    await page.keyboard.press('Enter')
    await page.keyboard.type('https://good.example')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('1 field is wrong.').waitFor()
    const [described] = (await page.getByRole('textbox', { name: 'Allowed origins, 1' }).getAttribute('aria-describedby'))!
      .split(' ')
      .slice(-1)
    assert.notEqual(await page.locator(`[id="${described}"]`).innerText(), '')
    assert.equal(await page.evaluate('document.activeElement.value'), 'www.example.com')
    assert.match(await page.getByRole('alert').innerText(), /invalid_request[\s\S]*Request ID/)
    await console.assertSoundBut(/status of 400/, 'a form with a mistake')
    await console.close()
  })

  test('what is not saved is not left without a question', async () => {
    const id = await service.newAgent({ name: 'Atlas' })
    const console = await open()
    const page = await console.goto('/agents')
    await page.getByRole('link', { name: 'Atlas' }).first().click()
    await page.getByLabel('Greeting').fill('Hello!')
    const question = page.getByRole('alertdialog', { name: 'Leave without saving?' })
    const signOut = async () => {
      await page.getByRole('button', { name: /^Account/ }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
    }
    for (const leave of [() => page.getByRole('link', { name: 'Overview' }).click(), () => page.goBack(), signOut]) {
      await leave()
      await question.waitFor()
      await page.getByRole('button', { name: 'Stay here' }).click()
      await question.waitFor({ state: 'detached' })
      assert.match(page.url(), /\/console\/agents\/.{36}$/)
      assert.equal(await page.getByLabel('Greeting').inputValue(), 'Hello!')
    }
    await page.goBack()
    await page.getByRole('button', { name: 'Leave without saving' }).click()
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
    assert.match(page.url(), /\/console\/agents$/)
    assert.equal((await agent(id)).greeting, '')
    await console.close()
  })

  test('an agent is tried as it is being set up, before that is saved, and nothing of the conversation is kept', async () => {
    const id = await service.newAgent({ name: 'Atlas', model: 'openai/stub', greeting: 'Welcome.' })
    const { body } = await service.client.post(`/agents/${id}/documents`, {
      title: 'Returns',
      text: 'A lamp can be returned within 30 days of the purchase.',
    })
    const path = `/agents/${id}/documents/${body.document.id}`
    await until('the document is ready', async () => (await service.client.get(path)).body.document.status === 'ready')
    const console = await open()
    const page = await console.goto(`/agents/${id}`)
    const log = page.getByRole('log', { name: 'Try it' })
    await page.getByLabel('Greeting').fill('Hello!')
    await log.getByText('Hello!').waitFor()
    await page.getByRole('combobox', { name: 'Model', exact: true }).fill('extractive')
    await page.getByLabel('Question', { exact: true }).fill('Within how many days can a lamp be returned?')
    await page.getByText('They are not saved yet.').waitFor()
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.getByRole('list', { name: 'Sources' }).getByText('Returns').waitFor()
    assert.match(await log.innerText(), /within 30 days of the purchase/)
    const { model, greeting, stats } = await agent(id)
    assert.deepEqual([model, greeting, stats.sessions], ['openai/stub', 'Welcome.', 0])
    await console.assertSound('a conversation')
    await console.close()
  })

  test('a hostile reply is text, whatever it holds', async () => {
    const reply = [
      '<script>fetch("https://evil.example/a")</script><img src=https://evil.example/b onerror="alert(1)" style="color:red">',
      '![a picture](https://evil.example/c.png) [a link](javascript:alert(1)) [out](https://evil.example/d)',
      '| a | b |\n|---|--:|\n| 1 | <b onclick=alert(1)>2</b> |',
    ].join('\n\n')
    service.model.behaviour = says(reply)
    const id = await service.newAgent({ name: 'Atlas' })
    const console = await open()
    const page = await console.goto(`/agents/${id}`)
    await page.getByLabel('Question', { exact: true }).fill('Hello?')
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    const log = page.getByRole('log', { name: 'Try it' })
    await log.getByRole('link', { name: /Image: a picture/ }).waitFor()
    assert.deepEqual(await log.locator('a').evaluateAll((links) => links.map((link) => `${link}`)), [
      ...['https://evil.example/a', 'https://evil.example/b'], // as they stand in the text
      'https://evil.example/c.png',
      'https://evil.example/d',
    ])
    assert.equal(await log.getByRole('link', { name: /out/ }).getAttribute('rel'), 'noopener noreferrer nofollow')
    assert.equal(await log.locator('img, script, b, iframe, [onclick], [onerror]').count(), 0)
    await console.assertSound('a hostile reply')
    await console.close()
  })

  test('an agent is deleted by who writes its name', async () => {
    const id = await service.newAgent({ name: 'To be deleted' })
    const console = await open()
    const page = await console.goto(`/agents/${id}`)
    await page.getByRole('button', { name: 'Delete the agent' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete To be deleted?' })
    const confirm = dialog.getByRole('button', { name: 'Delete the agent' })
    assert.equal(await confirm.isDisabled(), true)
    await dialog.getByRole('textbox').fill('To be deleted')
    await console.assertSound('the question before a deletion')
    await confirm.click()
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'To be deleted' }).count(), 0)
    await page.getByRole('button', { name: 'Pick an agent', exact: true }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Setup' }).count(), 0, 'nothing leads to it any more')
    assert.equal((await service.client.get(`/agents/${id}`)).status, 404)
    assert.deepEqual(console.troubles, [])
    await console.close()
  })
})
