// The playground of the console: a conversation with an agent, and all that can be known of each reply.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { Console } from '../support/console.ts'
import { CuttingProxy } from '../support/cutting-proxy.ts'
import { dropFiles } from '../support/drop-files.ts'
import { hostileMarkdown } from '../support/hostile-markdown.ts'
import { refuses, says, streams } from '../support/model-server.ts'
import { pdf } from '../support/pdf.ts'
import { until } from '../support/poll.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

const LANTERN = new URL('../fixtures/answers/', import.meta.url)

describe('the playground of the console', { skip: needsProcess }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-console-'))
  let service: Service
  let browser: Browser
  before(async () => {
    ;[service, browser] = await Promise.all([startService(), openBrowser()])
  })
  after(async () => {
    await Promise.all([browser?.close(), service?.stop()])
    rmSync(folder, { recursive: true, force: true })
  })
  afterEach(() => service.model.reset())

  const openAt = async (path: string, script = '') => {
    const console = await Console.open(browser, service.client.address.baseUrl, { key: service.client.key })
    await console.page.addInitScript(script)
    return { console, page: await console.goto(path) }
  }
  const open = async (settings: object = {}) => {
    const agentId = await service.newAgent(settings)
    return { agentId, ...(await openAt(`/agents/${agentId}/playground`)) }
  }
  const newReader = async (settings: object = {}) => {
    const agentId = await service.newAgent({ model: 'extractive', ...settings })
    const names = readdirSync(LANTERN).filter((name) => name.endsWith('.md'))
    for (const name of names) {
      const markdown = readFileSync(new URL(name, LANTERN), 'utf8')
      await service.client.post(`/agents/${agentId}/documents`, { markdown })
    }
    await until('the documents are ready', async () => {
      const { pagination } = (await service.client.get(`/agents/${agentId}/documents?status=ready`)).body
      return pagination.total === names.length
    })
    return agentId
  }
  const message = (page: Page) => page.getByRole('textbox', { name: 'Message' })
  const send = async (page: Page, text: string) => {
    await message(page).fill(text)
    await message(page).press('Enter')
  }
  const thread = (page: Page) => page.getByRole('region', { name: 'Conversation' })
  const historyOf = async (page: Page) => {
    const [, agentId, sessionId] = /agents\/([^/]+)\/playground\/([^/?]+)/.exec(page.url())!
    const { messages } = (await service.client.get(`/agents/${agentId}/sessions/${sessionId}`)).body
    return messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`)
  }
  const stopped = (page: Page) => page.getByRole('button', { name: 'Stop the reply' }).waitFor({ state: 'detached' })

  test('a PDF is dropped, and a reply cites it, with a card that leads to the page', async () => {
    const agentId = await service.newAgent({ model: 'extractive' })
    const { console, page } = await openAt(`/agents/${agentId}/knowledge`)
    const file = join(folder, 'lantern.pdf')
    const said = 'The battery of the lantern works down to minus twenty degrees.'
    writeFileSync(file, pdf([[{ text: 'The lantern', y: 700, size: 20 }], [{ text: said, y: 700 }]]))
    await dropFiles(page, page.getByText('Drop files or folders here'), [file])
    await page.getByRole('row').filter({ hasText: 'The lantern' }).getByText('Ready').waitFor()
    await page.getByRole('link', { name: 'Playground', exact: true }).click()
    await send(page, 'Down to how many degrees does the battery of the lantern work?')
    await thread(page).getByText(said).waitFor()
    await thread(page).getByRole('button', { name: 'Source 1: The lantern' }).click()
    const card = page.getByRole('dialog', { name: 'Source 1: The lantern' })
    await card.getByText(said).waitFor()
    await card.getByText('Page 2').waitFor()
    await console.assertSound('the card of a source')
    await card.getByRole('link', { name: 'Open in the document' }).click()
    await page.locator('[aria-current=true] mark').filter({ hasText: said }).waitFor()
    // Back in the playground the conversation is still there.
    await page.getByRole('link', { name: 'Playground', exact: true }).click()
    await thread(page).getByText(said).waitFor()
    await console.close()
  })

  test('a reply shows how it came about, and questions to go on with', async () => {
    const agentId = await newReader({ followUps: { enabled: true }, starters: ['What is a backup?'] })
    const { console, page } = await openAt(`/agents/${agentId}/playground`)
    await page.getByRole('button', { name: 'What is a backup?' }).click()
    const followUps = thread(page).getByRole('list', { name: 'Questions to go on with' })
    await followUps.getByRole('button').first().waitFor()
    await page.getByRole('button', { name: 'Details' }).click()
    const details = page.getByRole('dialog', { name: 'Details of the reply' })
    await details.getByText('Answered from the knowledge base').waitFor()
    for (const name of ['Words', 'Pieces', 'Nearness']) await details.getByRole('columnheader', { name }).waitFor()
    await details.getByRole('rowheader', { name: 'Search the knowledge base' }).waitFor()
    await details.getByRole('cell', { name: 'Replied' }).waitFor()
    await console.assertSound('the details')
    await page.reload()
    await page.getByRole('button', { name: 'Details' }).click()
    await details.getByRole('columnheader', { name: 'Nearness' }).waitFor()
    await page.keyboard.press('Escape')
    const question = await followUps.getByRole('button').first().innerText()
    await followUps.getByRole('button').first().click()
    await until('the follow-up is answered', async () => (await historyOf(page)).length === 4)
    assert.equal((await historyOf(page))[2], `USER: ${question}`)
    await console.close()
  })

  test('a reply streams in, is stopped, made anew, and rated', async () => {
    const gate = Promise.withResolvers<void>()
    service.model.behaviour = streams(['The shop ', 'opens at nine.'], { gates: [Promise.resolve(), gate.promise] })
    const { console, page } = await open()
    await send(page, 'When does the shop open?')
    await thread(page).getByText('The shop', { exact: true }).waitFor()
    assert.match(await page.locator('.playground-frame [role=status]').innerText(), /^The agent is writing\.$/)
    await page.getByRole('button', { name: 'Stop the reply' }).click()
    await thread(page).getByText('Stopped', { exact: true }).waitFor()
    gate.resolve()
    assert.deepEqual(await historyOf(page), ['USER: When does the shop open?', 'AI: The shop '])

    service.model.behaviour = says('At **nine**.')
    await page.getByRole('button', { name: 'Make it anew' }).click()
    await thread(page).getByText('Version 2 of 2').waitFor()
    assert.equal(await page.locator('.playground-frame > [role=status]').innerText(), 'The agent: At nine .')
    await page.getByRole('button', { name: 'The version before' }).click()
    await thread(page).getByText('The shop', { exact: true }).waitFor()
    await thread(page).getByText('Version 1 of 2').waitFor()

    await page.getByRole('button', { name: 'A bad reply' }).click()
    await page.getByLabel('What was good or bad about it?').fill('Too short.')
    await page.getByRole('button', { name: 'Send the comment' }).click()
    await page.getByText('Noted').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'A bad reply', pressed: true }).waitFor()
    await thread(page).getByText('Version 2 of 2').waitFor()
    await console.assertSound('a conversation that was read again')
    await console.close()
  })

  test('a message whose reply failed is sent again, and stands in the history once', async () => {
    service.model.behaviour = refuses(500)
    const { console, page } = await open()
    await send(page, 'Is anybody there?')
    await thread(page).getByText('model_failed').waitFor()
    service.model.behaviour = says('I am here.')
    await page.getByRole('button', { name: 'Send again' }).click()
    await thread(page).getByText('I am here.').waitFor()
    // What is said can be read before it is stored.
    await page.getByRole('button', { name: 'Make it anew' }).waitFor()
    assert.deepEqual(await historyOf(page), ['USER: Is anybody there?', 'AI: I am here.'])

    service.model.behaviour = refuses(500)
    await page.getByRole('button', { name: 'Make it anew' }).click()
    await thread(page).getByText('The reply could not be made anew').waitFor()
    await thread(page).getByText('I am here.').waitFor()
    await console.close()
  })

  test('a connection that is lost in the middle of a reply is taken up again', async () => {
    const gate = Promise.withResolvers<void>()
    service.model.behaviour = streams(['The shop ', 'opens at nine.'], { gates: [Promise.resolve(), gate.promise] })
    const proxy = new CuttingProxy(Number(new URL(service.client.address.baseUrl).port))
    const baseUrl = `http://127.0.0.1:${await proxy.listen()}/v1`
    const agentId = await service.newAgent()
    const console = await Console.open(browser, baseUrl, { key: service.client.key })
    const page = await console.goto(`/agents/${agentId}/playground`)
    await send(page, 'When does the shop open?')
    await thread(page).getByText('The shop', { exact: true }).waitFor()
    proxy.refuse()
    gate.resolve()
    await thread(page).getByText('The connection is lost.').waitFor()
    proxy.mend()
    await thread(page).getByText('The shop opens at nine.', { exact: true }).waitFor()
    await stopped(page)
    assert.equal((await historyOf(page)).length, 2)
    await console.close()
    proxy.close()
  })

  test('a reply that runs goes on after the page was loaded again', async () => {
    const gate = Promise.withResolvers<void>()
    service.model.behaviour = streams(['The shop ', 'opens at nine.'], { gates: [Promise.resolve(), gate.promise] })
    const { console, page } = await open()
    await send(page, 'When does the shop open?')
    await thread(page).getByText('The shop', { exact: true }).waitFor()
    await page.reload()
    await thread(page).getByText('The shop', { exact: true }).waitFor()
    gate.resolve()
    await thread(page).getByText('The shop opens at nine.', { exact: true }).waitFor()
    await console.close()
  })

  test('hostile replies do nothing, as Markdown, as HTML, and as what was brought in from elsewhere', async () => {
    const hostile = hostileMarkdown.filter((_, place) => place % 9 === 0)
    service.model.behaviour = says(`Hello.\n\n${hostile.join('\n\n')}`)
    const { agentId, console, page } = await open()
    await page.evaluate('globalThis.__ran = () => { throw new Error("ran") }')
    const harmless = async () => {
      const active = thread(page).locator(
        'script, style, img, svg:not(.icon), iframe, object, embed, form, input, video, [onclick], [onload], [onerror]',
      )
      assert.equal(await active.count(), 0)
      const links = await thread(page)
        .locator('a')
        .evaluateAll((all) => all.map((a) => (a as unknown as { href: string }).href))
      assert.deepEqual(
        links.filter((href) => !/^https?:/.test(href)),
        [],
      )
    }
    await send(page, 'Hello?')
    await page.getByRole('button', { name: 'Details' }).waitFor()
    await harmless()
    await page.getByRole('radio', { name: /^HTML/ }).check({ force: true })
    await page.getByRole('button', { name: 'Make it anew' }).click()
    await thread(page).getByText('Version 2 of 2').waitFor()
    assert.deepEqual(console.troubles, [])
    assert.match((await historyOf(page))[1]!, /^AI: <p>Hello\.<\/p>/)
    await harmless()

    const content = `<p>Hello.</p>${hostile.join('\n')}`
    const messages = [
      { role: 'USER', content: 'Hello?' },
      { role: 'AI', content },
    ]
    const { session } = (await service.client.post(`/agents/${agentId}/sessions/import`, { messages })).body
    await page.goto(`${console.origin}/console/agents/${agentId}/playground/${session.id}`)
    await page.getByRole('button', { name: 'Details' }).waitFor()
    await harmless()
    // The document in which it is taken apart tells of what the policy forbids in it; nothing ran, and nothing was asked for.
    assert.deepEqual(
      console.troubles.filter((trouble) => !/violate/.test(trouble)),
      [],
    )
    await console.close()
  })

  test('everything is done by keyboard, as the user who was named, also where the page did not come by https', async () => {
    const agentId = await newReader()
    // What browsers keep from such pages.
    const plain = `delete Crypto.prototype.randomUUID; Object.defineProperty(Navigator.prototype, 'clipboard', { get: () => undefined })`
    const { console, page } = await openAt(`/agents/${agentId}/playground?ask=How%20do%20I`, plain)
    const tabTo = (name: RegExp) =>
      until(`${name} has the focus`, async () => {
        await page.keyboard.press('Tab')
        const focused = await page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent')
        return name.test(String(focused))
      })
    await tabTo(/^Make one up$/)
    await page.keyboard.press('Enter')
    const user = await page.getByLabel('External user ID').inputValue()
    await tabTo(/^Message$/)
    await page.keyboard.press('End')
    await page.keyboard.type(' install Lantern,')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('please?')
    await page.keyboard.press('Enter')
    await thread(page).getByText('npm install --global lantern').waitFor()
    assert.equal((await historyOf(page))[0], 'USER: How do I install Lantern,\nplease?')
    const { users } = (await service.client.get(`/agents/${agentId}/users`)).body
    assert.deepEqual(
      users.map(({ externalUserId }: { externalUserId: string }) => externalUserId),
      [user],
    )

    await tabTo(/^Source 1: Installing Lantern$/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Source 1: Installing Lantern' }).waitFor()
    await page.keyboard.press('Escape')
    await tabTo(/^Details$/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Details of the reply' }).waitFor()
    await page.keyboard.press('Escape')
    await tabTo(/^New session$/)
    await page.keyboard.press('Enter')
    await page.getByText('Try your agent').waitFor()
    assert.match(page.url(), /\/playground$/)
    await console.close()
  })

  test('the newest text stays in sight for who is at the end, and leaves alone who reads above', async () => {
    const gate = Promise.withResolvers<void>()
    const lines = Array.from({ length: 60 }, (_, n) => `Line ${n}.\n\n`)
    service.model.behaviour = streams([lines.join(''), 'The last line.'], { gates: [Promise.resolve(), gate.promise] })
    const { console, page } = await open()
    await send(page, 'Tell me much.')
    await thread(page).getByText('Line 59.').waitFor()
    const top = () => thread(page).evaluate((box) => (box as unknown as { scrollTop: number }).scrollTop)
    await until('the end is in sight', async () => (await top()) > 500)
    await thread(page).hover()
    await page.mouse.wheel(0, -800)
    await page.getByRole('button', { name: 'To the newest' }).waitFor()
    const before = await top()
    gate.resolve()
    await stopped(page)
    assert.equal(await top(), before)
    await page.getByRole('button', { name: 'To the newest' }).click()
    await until('the end is in sight', async () => (await top()) > before)
    await page.getByRole('button', { name: 'To the newest' }).waitFor({ state: 'detached' })
    await console.close()
  })
})
