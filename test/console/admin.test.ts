// Those who run the service, in the console: keys, webhooks, budgets, the state of the service, and what was done to it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { Console } from '../support/console.ts'
import { until } from '../support/poll.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

describe('the pages of those who run the service', { skip: needsProcess }, () => {
  let receiver: Receiver
  let service: Service
  let browser: Browser
  before(async () => {
    receiver = await startReceiver()
    ;[service, browser] = await Promise.all([startService({ REPARTEE_FETCH_ALLOW: receiver.host }), openBrowser()])
  })
  after(async () => {
    await Promise.all([browser?.close(), service?.stop()])
    receiver.close()
  })

  const open = async (path: string, key = service.client.key) => {
    const console = await Console.open(browser, service.client.address.baseUrl, { key })
    return { console, page: await console.goto(path) }
  }
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
  const doTo = async (page: Page, name: string, deed: string) => {
    await page.getByRole('button', { name: `Actions of ${name}` }).click()
    await page.getByRole('menuitem', { name: deed }).click()
  }

  test('a key is made for one agent, works as it is shown, is rolled, and revoked', async () => {
    await service.newAgent({ name: 'Borealis' })
    const agentId = await service.newAgent({ name: 'Atlas' })
    const { console, page } = await open('/keys')
    await page.getByRole('button', { name: 'Create a key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a key' })
    await dialog.getByRole('button', { name: 'Create the key' }).click()
    await dialog.getByText('Enter a name.').waitFor()
    await dialog.getByRole('textbox', { name: /^Name/ }).fill('Web shop')
    await dialog.getByText('Only these agents').click()
    await dialog.getByText('Atlas').click()
    await dialog.getByText('1 agent is chosen').waitFor()
    await dialog.getByRole('textbox', { name: 'Tokens' }).fill('5000')
    await console.assertSound('the form of a key')
    await dialog.getByRole('button', { name: 'Create the key' }).click()

    const shown = page.getByRole('alertdialog')
    await page.keyboard.press('Escape')
    const secret = await shown.getByRole('group', { name: 'The key' }).innerText()
    assert.match(secret, /^rpt_\w{40}$/)
    const curl = await shown.getByRole('group', { name: /command line/ }).innerText()
    assert.ok(curl.includes(`${console.origin}/v1/agents`) && curl.includes(`X-API-Key: ${secret}`), curl)
    const use = (key: string) => fetch(`${console.origin}/v1/agents`, { headers: { 'X-API-Key': key } })
    const { agents } = (await (await use(secret)).json()) as { agents: { id: string }[] }
    assert.deepEqual(
      agents.map(({ id }) => id),
      [agentId],
    )
    await console.assertSound('the secret of a key')
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    assert.equal(await page.getByText(secret).count(), 0)
    await row(page, 'Web shop').getByText('0 of 5K').waitFor()
    const { keys } = (await service.client.get('/keys')).body
    assert.deepEqual(
      [keys[0].name, keys[0].scopes, keys[0].budget],
      ['Web shop', ['chat'], { tokensPerDay: 5000, costPerDay: null }],
    )

    await doTo(page, 'Web shop', 'Roll')
    await page.getByRole('button', { name: /The old key ends/ }).click()
    await page.getByRole('option', { name: 'At once' }).click()
    await page.getByRole('button', { name: 'Roll the key' }).click()
    const rolled = await page.getByRole('alertdialog').getByRole('group', { name: 'The key' }).innerText()
    await page.getByText('The old key has ended.').waitFor()
    assert.deepEqual([(await use(secret)).status, (await use(rolled)).status], [401, 200])
    await page.getByRole('button', { name: 'I have copied it' }).click()

    await row(page, 'Web shop').filter({ hasText: 'Expired' }).waitFor()
    await row(page, rolled.slice(0, 8)).getByRole('button', { name: 'Actions of Web shop' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke the key' }).click()
    await row(page, rolled.slice(0, 8)).waitFor({ state: 'detached' })
    await until('reading goes on at the heading', () => page.evaluate(`document.activeElement.localName === 'h1'`))
    assert.equal((await use(rolled)).status, 401)
    await console.close()
  })

  test('a webhook is made, tested, turned off by its server, and what was sent is seen and sent again', async () => {
    const { console, page } = await open('/webhooks')
    await page.getByText('There is no webhook yet').waitFor()
    await page.getByRole('button', { name: 'Create a webhook' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a webhook' })
    await dialog.getByRole('textbox', { name: /^URL/ }).fill('ftp://example.com')
    await dialog.getByText('A conversation was started').click()
    await dialog.getByRole('button', { name: 'Create the webhook' }).click()
    await dialog.getByText('Enter an address that begins with https').waitFor()
    await dialog.getByRole('textbox', { name: /^URL/ }).fill(receiver.url)
    await console.assertSound('the form of a webhook')
    await dialog.getByRole('button', { name: 'Create the webhook' }).click()
    assert.match(await page.getByRole('group', { name: 'The signing secret' }).innerText(), /^whsec_/)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    const [webhook] = (await service.client.get('/webhooks')).body.webhooks
    assert.deepEqual(webhook.events.sort(), ['message.completed', 'session.created', 'turn.failed'])

    receiver.answer(204, 410)
    await doTo(page, receiver.url, 'Send a test')
    await page.getByRole('alert').filter({ hasText: 'answered with status 204' }).waitFor()
    assert.equal(receiver.received.at(-1)?.body.type, 'webhook.test')
    await page.getByRole('dialog').getByText('Close', { exact: true }).click()
    await row(page, receiver.url).getByRole('link').click()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByRole('alert').filter({ hasText: 'answered with status 410' }).waitFor()
    await page.getByRole('dialog').getByText('Close', { exact: true }).click()
    await page.getByText('This webhook is turned off').waitFor()
    await row(page, 'was answered with status 410').getByRole('cell', { name: '410', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('This webhook is turned off').waitFor({ state: 'detached' })
    await page.getByRole('dialog').getByText('Close', { exact: true }).click()

    const agentId = await service.newAgent({ model: 'extractive' })
    const before = receiver.received.length
    await service.newSession(agentId)
    await receiver.event(({ body }) => body.type === 'session.created')
    await page.getByRole('button', { name: 'Refresh' }).click()
    const sent = row(page, 'session.created').filter({ hasText: 'Delivered' })
    await sent.getByRole('button', { name: /^Deliver session.created/ }).click()
    await until('it was sent again', () => receiver.received.length === before + 2)
    await page.getByText('It is being delivered again.').waitFor()
    await console.assertSound('a webhook')

    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the webhook' }).click()
    await page.getByText('There is no webhook yet').waitFor()
    await console.close()
  })

  test('what an agent used of its budget is shown, and says when it is used up', async () => {
    const agentId = await service.newAgent({ name: 'Thrifty', budget: { tokensPerDay: 1_000, tokensPerUserPerDay: 700 } })
    const session = await service.newSession(agentId)
    assert.equal((await service.client.post(`${session}/messages`, { message: 'Hello?' })).status, 200)
    const { usage } = (await service.client.get(`/agents/${agentId}/usage`)).body
    assert.ok(usage.tokens > 0)
    const { console, page } = await open('/usage')
    const meter = row(page, 'Thrifty').getByRole('meter')
    assert.equal(await meter.getAttribute('aria-valuenow'), String(usage.tokens))
    assert.equal(await meter.getAttribute('aria-valuemax'), '1000')
    await row(page, 'Thrifty').getByText('700 tokens').waitFor()
    await service.client.patch(`/agents/${agentId}`, { budget: { tokensPerDay: usage.tokens } })
    await page.reload()
    await row(page, 'Thrifty').getByText('Used up').waitFor()
    await console.close()
  })

  test('the audit log tells what was done, by which key, to which agent, and in which time', async () => {
    const agentId = await service.newAgent({ name: 'Watched' })
    await service.client.patch(`/agents/${agentId}`, { name: 'Watched over' })
    const { console, page } = await open('/audit')
    await row(page, 'Key revoked').filter({ hasText: 'REPARTEE_ADMIN_KEY' }).first().waitFor()
    await row(page, 'Webhook tested').first().waitFor()
    await page.getByRole('combobox', { name: 'Agent' }).fill('Watched over')
    await page.keyboard.press('Escape')
    await row(page, 'Key revoked').first().waitFor({ state: 'detached' })
    const changed = row(page, 'Agent changed').filter({ hasText: 'Watched over' })
    for (const cell of ['REPARTEE_ADMIN_KEY', '127.0.0.1', 'Done']) await changed.getByRole('cell', { name: cell }).waitFor()
    await console.settled()
    await console.assertSound('the audit log of an agent')
    await console.close()
  })

  test('an agent is embedded with its own address and id, and a token for a try starts a session', async () => {
    const agentId = await service.newAgent({ name: 'Embedded' })
    const { secret } = (await service.client.post('/keys', { name: 'Shop', scopes: ['chat'], agentIds: [agentId] })).body
    const { console, page } = await open(`/agents/${agentId}/embed`, secret)
    const code = (name: string | RegExp) => page.getByRole('group', { name }).innerText()
    assert.ok((await code('In your page')).includes(`src="${console.origin}/widget.js" defer\n  data-agent="${agentId}"`))
    await page.getByRole('button', { name: 'Create a token' }).click()
    const token = await code('The token')
    const { status, headers } = await fetch(`${console.origin}/v1/agents/${agentId}/sessions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: '{}',
    })
    assert.deepEqual([status, headers.get('content-type')?.includes('json')], [201, true])
    assert.ok((await code('Start a session with it')).includes(`Bearer ${token}`))
    await page.getByRole('tab', { name: 'MCP' }).click()
    assert.equal(await code('Address'), `${console.origin}/mcp/${agentId}`)
    assert.ok(JSON.parse(await code(/^Cursor/)).mcpServers.repartee.url.endsWith(agentId))
    // What a key may not do has no place in its navigation.
    assert.equal(await page.getByRole('link', { name: 'Webhooks' }).count(), 0)
    assert.equal(await page.getByRole('link', { name: 'Open the setup' }).count(), 0)
    // What a key may do is found by trying.
    await console.assertSoundBut(/40[34]/, 'embedding')
    await console.close()
  })

  test('the state of the service is told with its figures and its models', async () => {
    const agentId = await service.newAgent()
    await service.client.post(`${await service.newSession(agentId)}/messages`, { message: 'Hello?' })
    const { console, page } = await open('/system')
    const figure = (name: string) => page.locator('dl > div').filter({ has: page.getByText(name, { exact: true }) })
    await figure('Process').getByText('Running').waitFor()
    await figure('Requests').getByText('Taken').waitFor()
    await figure('Node')
      .getByText(/^v\d+\./)
      .waitFor()
    const text = await (
      await fetch(`${console.origin}/metrics`, { headers: { Authorization: `Bearer ${service.client.key}` } })
    ).text()
    const turns = /^repartee_turn_duration_seconds_count\{outcome="ok"\} (\d+)$/m.exec(text)![1]!
    await figure('Turns').getByText(turns, { exact: true }).waitFor()
    await figure('Memory')
      .getByText(/^[\d.]+ MB$/)
      .waitFor()
    await row(page, 'openai').getByText('openai/stub').waitFor()
    await console.close()
  })
})
