// Reading conversations in the console: finding one, what a reply rests on and how it came about, rating, files, and deletion.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Browser, Download, Page } from 'playwright-core'
import { isError, isOk } from '../support/assert.ts'
import { openBrowser } from '../support/browser.ts'
import { Console, looks } from '../support/console.ts'
import { refuses } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess } from '../support/service.ts'
import { startTalks, type Talk, type Talks } from '../support/talks.ts'

const ANA = randomUUID()
const BEN = randomUUID()
const MANY = 130

describe('conversations in the console', { skip: needsProcess }, () => {
  let talks: Talks
  let browser: Browser
  let console: Console
  let page: Page
  let plan: Talk
  let backup: Talk
  let failed: Talk
  let long: string
  before(async () => {
    ;[talks, browser] = await Promise.all([startTalks(), openBrowser()])
    const { client, model } = talks.service
    const said = Array.from({ length: MANY }, (_, i) => ({
      role: i % 2 === 0 ? 'USER' : 'AI',
      content: `Line ${i + 1}`,
      createdAt: new Date(Date.UTC(2024, 0, 1, 0, i)).toISOString(),
    }))
    const body = { name: 'The old help desk', externalUserId: BEN, messages: said }
    long = (await client.post(`/agents/${talks.agentId}/sessions/import`, body)).body.session.id
    backup = await talks.talk(20, ANA, ['How do I restore a backup?', 'Is there a student discount?'], { name: 'Backups' })
    plan = await talks.talk(2, BEN, ['How much does the Team plan cost?'], { name: 'Prices' })
    model.behaviour = refuses(500)
    await client.patch(`/agents/${talks.agentId}`, { model: 'openai/stub' })
    failed = await talks.talk(1, ANA, ['Why is my lamp red?'], { name: 'Lamps' })
    await client.patch(`/agents/${talks.agentId}`, { model: 'extractive' })
    console = await open()
    page = console.page
  })
  after(async () => {
    await browser?.close()
    await talks?.stop()
  })

  const open = (key = talks.service.client.key, look = {}) =>
    Console.open(browser, talks.service.client.address.baseUrl, { ...look, key })
  const list = () => `/agents/${talks.agentId}/conversations`
  const rows = () => page.getByRole('table').getByRole('rowheader').allInnerTexts()
  const shows = (...names: string[]) => until(`the list is ${names}`, async () => String(await rows()) === String(names))
  const textOf = async (download: Download) => readFileSync(await download.path(), 'utf8')

  test('they are listed with the latest first, and found by words, by user and by time', async () => {
    await console.goto(list())
    assert.deepEqual(await rows(), ['Lamps', 'Prices', 'Backups', 'The old help desk'])
    const [time] = await page.getByRole('row', { name: 'Backups' }).getByText('2 weeks ago').all()
    assert.match((await time!.getAttribute('title'))!, /\d{4}.*\d:\d\d/)
    await page.getByRole('searchbox', { name: 'Search what was said' }).fill('student discount')
    await shows('Backups')
    await page.getByRole('searchbox', { name: 'Search what was said' }).fill('')
    await page.getByRole('searchbox', { name: 'User id' }).fill('nobody')
    await page.getByText('A user id has the form of a UUID.').waitFor()
    await page.getByRole('searchbox', { name: 'User id' }).fill(BEN)
    await shows('Prices', 'The old help desk')
    await page.getByRole('button', { name: /Time of the last activity/ }).click()
    await page.getByRole('option', { name: 'Last 7 days' }).click()
    await shows('Prices')
    // The filter is in the address, for others.
    await console.goto(page.url().split('/console')[1]!)
    await shows('Prices')
    await page.getByRole('searchbox', { name: 'Search what was said' }).fill('nothing of that kind')
    await page.getByRole('link', { name: 'Clear the filter' }).click()
    await shows('Lamps', 'Prices', 'Backups', 'The old help desk')
    assert.deepEqual(console.troubles, [])
  })

  test('one is read with the sources of its replies, and how they came about', async () => {
    await console.goto(list())
    await page.getByRole('link', { name: 'Backups' }).click()
    await page.getByRole('heading', { level: 1, name: 'Backups' }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Backups')
    assert.equal(await page.title(), 'Backups · Lantern · Repartee')
    await page.getByRole('link', { name: ANA.slice(0, 8), exact: true }).waitFor()
    const messages = page.getByRole('list', { name: 'Messages' })
    await messages.getByText('Is there a student discount?').waitFor()
    const source = page.getByRole('list', { name: 'Sources' }).first().getByRole('listitem')
    await source.getByRole('link', { name: 'Backing up' }).waitFor()
    assert.match(await source.innerText(), /Unpack the archive into the data folder/)
    await page.getByRole('button', { name: 'Source 1' }).first().click()
    assert.match(String(await page.evaluate('document.activeElement.id')), /^source-.*-1$/)
    await page.getByText('How it came about').first().click()
    const timings = page.getByRole('table', { name: 'Time taken' })
    await timings.getByRole('row', { name: /Search the knowledge base/ }).waitFor()
    await page.getByText('From the knowledge base').waitFor()
    await page.getByText('How it came about').nth(1).click()
    await page.getByText('Not answered from the knowledge base').waitFor()
    assert.deepEqual(console.troubles, [])
  })

  test('a turn that failed says what happened', async () => {
    await console.goto(`${list()}/${failed.id}`)
    await page.getByText('There was no reply').waitFor()
    await page.getByText('model_failed').waitFor()
  })

  test('a long one comes page by page', async () => {
    await console.goto(`${list()}/${long}`)
    const lines = page.getByRole('list', { name: 'Messages' }).locator(':scope > li')
    const counts = new Set<number>()
    for (let count = 0; count < MANY; ) {
      await until('more is there', async () => (await lines.count()) > count)
      count = await lines.count()
      counts.add(count)
      if (count < MANY) await page.getByRole('main').getByRole('button', { name: 'Load more' }).last().click()
    }
    assert.deepEqual([...counts], [50, 100, MANY])
    await page.getByText(`Line ${MANY}`, { exact: true }).waitFor()
  })

  test('a reply is rated, and the rating explained', async () => {
    const { id } = plan.answers[0].aiMessage
    const feedback = async () => (await talks.service.client.get(`${plan.path}/messages/${id}`)).body.message.feedback
    await console.goto(`${list()}/${plan.id}`)
    await page.getByRole('button', { name: 'Bad reply' }).click()
    await page.getByRole('button', { name: 'Bad reply', pressed: true }).waitFor()
    assert.deepEqual(await feedback(), { rating: 'down' })
    await page.getByRole('button', { name: 'Add a comment' }).click()
    await page.getByLabel('Comment').fill('The price has changed.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('p', { hasText: 'The price has changed.' }).waitFor()
    await page.getByRole('button', { name: 'Good reply' }).click()
    await page.getByRole('button', { name: 'Good reply', pressed: true }).waitFor()
    assert.deepEqual(await feedback(), { rating: 'up', comment: 'The price has changed.' })
  })

  test('it is renamed, made a file of, and brought in again', async () => {
    await console.goto(`${list()}/${backup.id}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Restoring')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Restoring' }).waitFor()
    const save = async (form: RegExp) => {
      await page.getByRole('button', { name: 'Export' }).click()
      const coming = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: form }).click()
      return coming
    }
    const markdown = await save(/Markdown/)
    assert.equal(markdown.suggestedFilename(), 'Restoring.md')
    assert.match(await textOf(markdown), /^# Restoring\n\n## User, \S+Z\n\nHow do I restore a backup\?\n\n## Lantern, /)
    const json = await save(/JSON/)
    const { name, externalUserId, messages } = JSON.parse(await textOf(json))
    assert.deepEqual([name, externalUserId, messages.length], ['Restoring', ANA, 4])

    await console.goto(list())
    await page.getByRole('button', { name: 'Import' }).click()
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose a file' }).click()
    await (await chooser).setFiles(
      await json.path().then((path) => ({ name: 'a.json', mimeType: 'application/json', buffer: readFileSync(path) })),
    )
    await page.getByText('4 messages').waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('Restoring, again')
    await page.getByRole('button', { name: 'Bring it in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Restoring, again' }).waitFor()
    const made = page.url().split('/').at(-1)
    const { body } = await talks.service.client.get(`/agents/${talks.agentId}/sessions/${made}`)
    assert.deepEqual(
      body.messages.map(({ role, content, createdAt }: (typeof messages)[number]) => ({ role, content, createdAt })),
      messages,
    )
  })

  test('it is deleted, once that is confirmed', async () => {
    const { id, path } = await talks.talk(0, ANA, ['What is a backup?'], { name: 'To be gone' })
    await console.goto(`${list()}/${id}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    isOk(await talks.service.client.get(path))
    await page.getByRole('button', { name: 'Delete the conversation' }).click()
    await page.getByRole('heading', { level: 1, name: 'Conversations' }).waitFor()
    await until('it is no longer listed', async () => !(await rows()).includes('To be gone'))
    isError(await talks.service.client.get(path), 404, 'session_not_found')
    assert.deepEqual(console.troubles, [])
  })

  test('a key that may only read changes nothing', async () => {
    const { body } = await talks.service.client.post('/keys', { name: 'A reader', scopes: ['read'] })
    await talks.rate(backup, 0, 'up')
    const reader = await open(body.secret)
    await reader.goto(`${list()}/${backup.id}`)
    await reader.page.getByText('Rated as good').waitFor()
    assert.equal(await reader.page.getByRole('button', { name: 'Good reply' }).count(), 0)
    await reader.page.getByRole('button', { name: 'More actions' }).click()
    assert.deepEqual(await reader.page.getByRole('menuitem').allInnerTexts(), ['Copy the link'])
    await reader.close()
  })

  test('they look sound', { concurrency: true }, async (t) => {
    const lookAt = async (look: (typeof looks)[string]) => {
      const other = await open(undefined, look)
      for (const path of [list(), `${list()}/${backup.id}`]) {
        await other.goto(path)
        await other.assertSound(path)
      }
      await other.close()
    }
    await Promise.all(Object.entries(looks).map(([how, look]) => t.test(how, () => lookAt(look))))
  })
})
