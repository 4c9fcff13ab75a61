// The door of the console: who comes in, what they see, and how they come back in.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { Console } from '../support/console.ts'
import { makeKey, needsProcess, type Service, startService } from '../support/service.ts'

const MOST_BYTES = 300_000

describe('the door of the console', { skip: needsProcess, concurrency: 3 }, () => {
  let service: Service
  let browser: Browser
  let agentId: string
  before(async () => {
    ;[service, browser] = await Promise.all([startService(), openBrowser()])
    agentId = await service.newAgent({ name: 'Atlas' })
  })
  after(() => Promise.all([browser?.close(), service?.stop()]))

  const open = (key?: string) => Console.open(browser, service.client.address.baseUrl, key === undefined ? {} : { key })
  const newKey = async (scopes: string[], more: object = {}) =>
    (await service.client.post('/keys', { name: 'A key', scopes, ...more })).body as { key: { id: string }; secret: string }
  const signIn = async ({ page }: Console, key: string) => {
    await page.getByLabel('API key').fill(key)
    await page.keyboard.press('Enter')
  }
  const placesOf = ({ page }: Console) => page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts()

  test('a key leads in, to the page that was asked for, and is kept nowhere', async () => {
    const console = await open()
    const page = await console.goto(`/agents/${agentId}/insights`)
    assert.equal(await page.title(), 'Sign in · Repartee')
    await console.assertSound('the door')
    await signIn(console, service.client.key)
    await page.getByRole('heading', { level: 1, name: 'Insights' }).waitFor()
    await console.settled()
    assert.ok(console.fileBytes > 10_000 && console.fileBytes <= MOST_BYTES, `the first load is of ${console.fileBytes} bytes`)
    assert.deepEqual(await page.evaluate('[...Object.values(localStorage), ...Object.values(sessionStorage), document.cookie]'), [
      '',
    ])
    assert.deepEqual(console.troubles, [])
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await console.close()
  })

  test('a key that is not good stays outside, and is told so at the field', async () => {
    const console = await open()
    const page = await console.goto('/')
    for (const key of [makeKey(), 'nonsense', '']) {
      await signIn(console, key)
      const field = page.getByLabel('API key')
      await page.locator('[aria-invalid=true]').waitFor()
      const [id] = (await field.getAttribute('aria-describedby'))!.split(' ').slice(-1)
      const described = await page.locator(`[id="${id}"]`).innerText()
      assert.match(described, key === '' ? /Enter a key/ : /does not know this key/)
    }
    await console.close()
  })

  test('who asks for it stays signed in in the tab, until they sign out', async () => {
    const console = await open()
    const page = await console.goto('/')
    await page.getByLabel('API key').fill(service.client.key)
    await page.getByText('Keep me signed in in this tab').click()
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
    await console.close()
  })

  test('a key sees the pages that it can use, and no others', async () => {
    const rights: [scopes: string[], places: string[]][] = [
      [['chat'], ['Overview', 'Agents', 'Playground', 'Conversations', 'Embed']],
      [['read'], ['Overview', 'Agents', 'Conversations']],
      [['knowledge'], ['Overview', 'Agents', 'Knowledge', 'Insights']],
      [
        ['read', 'knowledge'],
        ['Overview', 'Agents', 'Knowledge', 'Conversations', 'Insights'],
      ],
    ]
    for (const [scopes, places] of rights) {
      const { secret } = await newKey(scopes, { agentIds: [agentId] })
      const console = await open(secret)
      const page = await console.goto(`/agents/${agentId}`)
      await page.getByRole('heading', { level: 1, name: 'Your key does not allow this' }).waitFor()
      assert.deepEqual(await placesOf(console), places, scopes.join())
      await console.close()
    }
  })

  test('a key that is refused in the middle of the work is asked for again, and the page stays', async () => {
    const { key, secret } = await newKey(['admin'])
    const console = await open(secret)
    const page = await console.goto(`/agents/${agentId}/knowledge`)
    await service.client.delete(`/keys/${key.id}`)
    await page.getByRole('link', { name: 'Agents', exact: true }).click()
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.waitFor()
    await again.getByLabel('API key').fill(service.client.key)
    await page.keyboard.press('Enter')
    await again.waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
    assert.match(page.url(), /\/console\/agents$/)
    await console.close()
  })

  test('what was under way when the key was refused goes on with the next', async () => {
    const { key, secret } = await newKey(['admin'])
    const console = await open(secret)
    const page = await console.goto(`/agents/${agentId}/playground`)
    await service.client.delete(`/keys/${key.id}`)
    await page.getByRole('textbox', { name: 'Message' }).fill('Is anybody there?')
    await page.keyboard.press('Enter')
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.getByLabel('API key').fill(service.client.key)
    await page.keyboard.press('Enter')
    await again.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('button', { name: 'Details' }).waitFor()
    await page.getByText('Is anybody there?').waitFor()
    await console.close()
  })

  test('a browser that keeps nothing lets in all the same', async () => {
    const console = await open()
    await console.page.addInitScript(`for (const name of ['sessionStorage', 'localStorage'])
      Object.defineProperty(globalThis, name, { get() { throw new DOMException('forbidden', 'SecurityError') } })`)
    const page = await console.goto('/agents')
    await page.getByText('Keep me signed in in this tab').click()
    await signIn(console, service.client.key)
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
    assert.deepEqual(console.troubles, [])
    await console.close()
  })
})
