// The console on a line that is slow, or gone: something is there at once, nothing is done twice, and what comes late comes in nobody's way.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page, Request } from 'playwright-core'
import { isOk } from '../support/assert.ts'
import { openBrowser } from '../support/browser.ts'
import { Console } from '../support/console.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

const FAILED = /Failed to (load|fetch)/

describe('the console on a slow line', { skip: needsProcess, concurrency: 3 }, () => {
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

  const newTab = (isAlone = false) => Console.open(browser, service.client.address.baseUrl, { key: service.client.key, isAlone })
  const open = async (path: string, isAlone?: boolean) => {
    const console = await newTab(isAlone)
    return { console, page: await console.goto(path) }
  }
  /** Holds back requests of a method to addresses that end so, until they are let go. */
  const hold = async (page: Page, method: string, path: RegExp) => {
    const gate = Promise.withResolvers<void>()
    const held: Request[] = []
    await page.route(
      (url) => path.test(url.pathname),
      async (route) => {
        if (route.request().method() !== method) return route.fallback()
        held.push(route.request())
        await gate.promise
        await route.continue().catch(() => {})
      },
    )
    return {
      held,
      isAsked: () => until(`${method} ${path} is asked for`, () => held.length > 0),
      /** Resolves when the page has had the answers, and has drawn what it makes of them. */
      async letGo() {
        gate.resolve()
        for (const request of held) {
          const response = await request.response()
          // A stream is left at its last event, and never told to be over.
          if (response?.headers()['content-type'] !== 'text/event-stream; charset=utf-8') await response?.finished()
        }
        await page.evaluate(
          'new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 50))',
        )
      },
    }
  }
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true })

  test('something is seen before the programs are there, and nothing moves when they come', async () => {
    const console = await newTab(true)
    const { page } = console
    const programs = await hold(page, 'GET', /\/index-[^/]*js$/)
    await page.goto(`${console.origin}/console/`, { waitUntil: 'commit' })
    const isSeen = `performance.getEntriesByName('first-contentful-paint').length > 0`
    await until('something is seen', async () => (await page.evaluate(isSeen)) === true)
    await programs.letGo()
    await heading(page, 'Overview').waitFor()
    await console.settled()
    await console.assertSound('a slow load')
    await console.close()
  })

  test('what is pressed twice is done once', async () => {
    const id = await service.newAgent({ name: 'Twice' })
    // Of nothing that the other tests do.
    const { webhook } = (await service.client.post('/webhooks', { url: receiver.url, events: ['document.failed'] })).body
    isOk(await service.client.post(`/webhooks/${webhook.id}/test`))
    service.model.behaviour = says('At nine.')
    const { console, page } = await open('/keys')
    const cases: [path: string, request: [method: string, path: RegExp], press: () => Promise<void>][] = [
      [
        '/keys',
        ['POST', /\/keys$/],
        async () => {
          await page.getByRole('button', { name: 'Create a key' }).click()
          await page.getByRole('textbox', { name: /^Name/ }).fill('Once')
          await page.getByRole('button', { name: 'Create the key' }).dblclick()
        },
      ],
      [
        '/keys',
        ['POST', /\/roll$/],
        async () => {
          await page.getByRole('button', { name: 'Actions of Once' }).click()
          await page.getByRole('menuitem', { name: 'Roll' }).click()
          await page.getByRole('button', { name: 'Roll the key' }).dblclick()
        },
      ],
      [
        `/webhooks/${webhook.id}`,
        ['POST', /\/retry$/],
        () =>
          page
            .getByRole('button', { name: /^Deliver webhook.test/ })
            .first()
            .dblclick(),
      ],
      [`/agents/${id}/embed`, ['POST', /\/tokens$/], () => page.getByRole('button', { name: 'Create a token' }).dblclick()],
      [
        `/agents/${id}/knowledge`,
        ['POST', /\/documents$/],
        async () => {
          await page.getByRole('button', { name: 'Add text' }).click()
          await page.getByRole('textbox', { name: /^Text/ }).fill('# Hours\n\nFrom nine.')
          await page.getByRole('textbox', { name: /^Title/ }).fill('Hours')
          await page.keyboard.press('Enter')
          await page.keyboard.press('Enter')
        },
      ],
      [
        `/agents/${id}`,
        ['POST', /\/preview$/],
        async () => {
          await page.getByLabel('Question', { exact: true }).fill('When?')
          await page.getByRole('button', { name: 'Ask', exact: true }).dblclick()
        },
      ],
      [
        `/agents/${id}`,
        ['PATCH', /\/agents\/[^/]+$/],
        async () => {
          await page.getByLabel('Greeting').fill('Hello!')
          await page.getByRole('button', { name: 'Save', exact: true }).dblclick()
        },
      ],
      [
        '/agents/new',
        ['POST', /\/agents$/],
        async () => {
          await page.getByRole('textbox', { name: /^Name/ }).fill('Only one')
          await page.getByRole('button', { name: 'Create the agent' }).dblclick()
        },
      ],
    ]
    for (const [path, [method, to], press] of cases) {
      await console.goto(path)
      const held = await hold(page, method, to)
      await press()
      await held.isAsked()
      await held.letGo()
      assert.equal(held.held.length, 1, `${method} ${to} is asked for once`)
      if (`${to}`.includes('preview')) await page.getByRole('log', { name: 'Try it' }).getByText('At nine.').waitFor()
      await page.unrouteAll()
    }
    const { agents } = (await service.client.get('/agents')).body
    assert.equal(agents.filter(({ name }: { name: string }) => name === 'Only one').length, 1)
    const { keys } = (await service.client.get('/keys')).body
    assert.equal(keys.filter(({ name }: { name: string }) => name === 'Once').length, 2, 'the old one and the new one')
    await console.close()
  })

  test('an answer that comes late leaves the reader where they are', async () => {
    const id = await service.newAgent({ name: 'Late' })
    const { document } = (await service.client.post(`/agents/${id}/documents`, { title: 'Old', text: 'Old.' })).body
    const { console, page } = await open('/agents/new')
    await page.getByRole('textbox', { name: /^Name/ }).fill('Made late')
    const made = await hold(page, 'POST', /\/agents$/)
    await page.getByRole('button', { name: 'Create the agent' }).click()
    await made.isAsked()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('button', { name: 'Leave without saving' }).click()
    await heading(page, 'Overview').waitFor()
    await made.letGo()
    assert.equal(new URL(page.url()).pathname, '/console/')

    // A deletion that nobody waits for, and a form that is begun meanwhile.
    await console.goto(`/agents/${id}/knowledge/documents/${document.id}`)
    const gone = await hold(page, 'DELETE', /\/documents\//)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the document' }).click()
    await gone.isAsked()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('link', { name: 'Setup' }).click()
    await page.getByLabel('Greeting').fill('Hello!')
    await gone.letGo()
    await page.getByText('The document is deleted').waitFor()
    assert.equal(await page.getByLabel('Greeting').inputValue(), 'Hello!')
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('alertdialog', { name: 'Leave without saving?' }).waitFor()
    await console.close()
  })

  test('a question that was left does not answer the next one', async () => {
    const { key: one } = (await service.client.post('/keys', { name: 'First key', scopes: ['chat'] })).body
    await service.client.post('/keys', { name: 'Second key', scopes: ['chat'] })
    const { console, page } = await open('/keys')
    const ask = async (name: string) => {
      await page.getByRole('button', { name: `Actions of ${name}` }).click()
      await page.getByRole('menuitem', { name: 'Revoke' }).click()
      await page.getByRole('dialog', { name: `Revoke “${name}”?` }).waitFor()
    }
    const gone = await hold(page, 'DELETE', new RegExp(`/keys/${one.id}$`))
    await ask('First key')
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await gone.isAsked()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await ask('Second key')
    await gone.letGo()
    await page.getByText('“First key” was revoked.').waitFor()
    assert.equal(await page.getByRole('dialog', { name: 'Revoke “Second key”?' }).count(), 1)
    await console.close()
  })

  test('what is typed while a session is being made stays, with the focus', async () => {
    const id = await service.newAgent()
    service.model.behaviour = says('At nine.')
    const { console, page } = await open(`/agents/${id}/playground`)
    const made = await hold(page, 'POST', /\/sessions$/)
    const field = page.getByRole('textbox', { name: 'Message' })
    await field.fill('When?')
    await field.press('Enter')
    await made.isAsked()
    await page.keyboard.type('And where?')
    await made.letGo()
    await page.getByText('At nine.').first().waitFor()
    assert.equal(await field.inputValue(), 'And where?')
    assert.equal(await page.evaluate('document.activeElement.localName'), 'textarea')
    await console.close()
  })

  test('the filter of the conversations leaves alone which of them is read', async () => {
    const id = await service.newAgent()
    for (const name of ['One', 'Two']) await service.newSession(id, { name })
    const { console, page } = await open(`/agents/${id}/conversations`)
    await page.getByRole('link', { name: 'One' }).click()
    const side = page.getByRole('navigation', { name: 'Conversations' })
    // Both at once, before the filter waits no longer for more letters.
    await page.evaluate(`(() => {
      const field = document.querySelector('.conversations-side input')
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, 'o')
      field.dispatchEvent(new Event('input', { bubbles: true }))
      ;[...document.querySelectorAll('.conversations-side a')].find((a) => a.textContent.includes('Two')).click()
    })()`)
    await heading(page, 'Two').waitFor()
    await until('the filter is in the address', () => page.url().includes('q=o'))
    await heading(page, 'Two').waitFor()
    assert.equal((await side.locator('[aria-current=page]').count()) <= 1, true)
    assert.equal(await heading(page, 'One').count(), 0)
    await console.close()
  })

  test('a line that is gone takes nothing with it, and what it kept away comes by itself', async () => {
    const { console, page } = await open('/keys', true)
    await page.context().setOffline(true)
    await page.getByText('There is no connection to the network.').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByText('The service cannot be reached.').waitFor()
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await heading(page, 'This page could not be fetched').waitFor()
    await console.assertSoundBut(FAILED, 'a page without a connection')
    await page.context().setOffline(false)
    await heading(page, 'Webhooks').waitFor()
    await console.settled()
    await page.getByText('There is no connection to the network.').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Go to…' }).waitFor()
    await console.assertSoundBut(FAILED, 'a page that came back')
    await console.close()
  })

  test('a reload while nobody answers keeps the key, and goes on when somebody does', async () => {
    const { console, page } = await open('/keys')
    await page.route('**/v1/**', (route) => route.abort())
    await page.reload()
    await page.getByText('The service cannot be reached.').waitFor()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Try again' }).click()
    await heading(page, 'API keys').waitFor()
    await console.settled()
    await console.close()
  })

  test('more of a list that could not be had says so, and is asked for again', async () => {
    const id = await service.newAgent()
    for (let n = 0; n < 51; n++) await service.newSession(id)
    const { console, page } = await open(`/agents/${id}/conversations`)
    await page.getByText('50 of 51').waitFor()
    await page.route('**/sessions?**', (route) => route.abort())
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByRole('alert').filter({ hasText: 'The service cannot be reached.' }).waitFor()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('51 of 51').waitFor()
    await console.close()
  })
})
