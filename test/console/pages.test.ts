// Every page of the console, as everybody may see it: nothing for axe to find, nothing that the policy forbids, nothing that moves.
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { Console, looks } from '../support/console.ts'
import { until } from '../support/poll.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

/** A page that is added is added here; `AGENT` is one with a document and a conversation. */
const PAGES: Record<string, string> = {
  'the overview': '/',
  'the list of agents': '/agents',
  'a new agent': '/agents/new',
  'the setup of an agent': '/agents/AGENT',
  'the knowledge of an agent': '/agents/AGENT/knowledge',
  'its sources': '/agents/AGENT/knowledge/sources',
  'a search of it': '/agents/AGENT/knowledge/search?q=lamp',
  'the playground': '/agents/AGENT/playground',
  'the keys': '/keys',
  'embedding an agent': '/agents/AGENT/embed',
  'the system': '/system',
  'the webhooks': '/webhooks',
  'usage and limits': '/usage',
  'the audit log': '/audit',
  'a webhook': '/webhooks/WEBHOOK',
  'a page that is not there': '/nowhere',
}

describe('every page of the console', { skip: needsProcess }, () => {
  let service: Service
  let browser: Browser
  let agentId: string
  const open = (look: (typeof looks)[string]) =>
    Console.open(browser, service.client.address.baseUrl, { ...look, key: service.client.key })

  before(async () => {
    ;[service, browser] = await Promise.all([startService(), openBrowser()])
  })
  after(() => Promise.all([browser?.close(), service?.stop()]))

  test('is sound where there is nothing yet', async () => {
    const console = await open({})
    for (const path of ['/', '/agents']) {
      await console.goto(path)
      await console.assertSound(path)
    }
    await console.close()
  })

  test('is sound where there is something', async (t) => {
    agentId = await service.newAgent({
      name: 'Atlas',
      model: 'extractive',
      greeting: 'Hello!',
      starters: ['What is it?'],
      followUps: { enabled: true },
    })
    await service.newAgent({ name: 'دليل الموظفين' })
    const { body } = await service.client.post(`/agents/${agentId}/documents`, {
      title: 'Returns',
      text: 'A lamp can be returned within 30 days.',
    })
    const path = `/agents/${agentId}/documents/${body.document.id}`
    await until('the document is ready', async () => (await service.client.get(path)).body.document.status === 'ready')
    const session = await service.newSession(agentId, { name: 'A question' })
    await service.client.post(`${session}/messages`, { message: 'Within how many days can a lamp be returned?' })
    const { body: webhook } = await service.client.post('/webhooks', {
      url: 'https://example.com/hooks',
      events: ['message.completed'],
      agentIds: [agentId],
    })
    await Promise.all(
      Object.entries(looks).map(([look, options], turn, { length }) =>
        t.test(look, async () => {
          const console = await open(options)
          // Each page in one of them, by turns: their parts are the same. With EVERY_LOOK each in all.
          const isMine = (i: number) => process.env.EVERY_LOOK !== undefined || i % length === turn
          for (const [name, path] of Object.entries(PAGES).filter((_, i) => isMine(i))) {
            await console.goto(path.replace('AGENT', agentId).replace('WEBHOOK', webhook.webhook.id))
            await console.assertSound(`${name} ${look}`)
          }
          await console.close()
        }),
      ),
    )
  })

  test('stays sound under what opens over it', async () => {
    const console = await open({})
    const page = await console.goto('/')
    const openers: [name: string, open: () => Promise<unknown>][] = [
      // On an Arabic keyboard.
      [
        'the command palette',
        () => page.evaluate(`dispatchEvent(new KeyboardEvent('keydown', { key: 'ن', code: 'KeyK', ctrlKey: true }))`),
      ],
      ['the shortcuts', () => page.keyboard.press('?')],
      ['the account', () => page.getByRole('button', { name: /^Account/ }).click()],
      ['the agents to pick from', () => page.getByRole('button', { name: 'Pick an agent' }).click()],
    ]
    for (const [name, press] of openers) {
      await press()
      await page.locator('[role=dialog], [role=menu]').first().waitFor()
      await console.settled()
      await console.assertSound(name)
      await page.keyboard.press('Escape')
      await page.locator('[role=dialog], [role=menu]').first().waitFor({ state: 'detached' })
    }
    await console.close()
  })
})
