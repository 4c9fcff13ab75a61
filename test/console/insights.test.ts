// What came of the conversations, in the console: figures and their change, gaps that are closed, documents; and the end users.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { isError } from '../support/assert.ts'
import { openBrowser } from '../support/browser.ts'
import { Console, looks } from '../support/console.ts'
import { until } from '../support/poll.ts'
import { needsProcess } from '../support/service.ts'
import { startTalks, type Talk, type Talks } from '../support/talks.ts'

const ANA = randomUUID()
const BEN = randomUUID()

describe('insights and users in the console', { skip: needsProcess }, () => {
  let talks: Talks
  let browser: Browser
  let console: Console
  let page: Page
  let gap: Talk
  before(async () => {
    ;[talks, browser] = await Promise.all([startTalks(), openBrowser()])
    await talks.talk(40, ANA, ['How do I restore a backup?', 'What is a backup?'])
    const plan = await talks.talk(20, BEN, [
      'How much does the Team plan cost?',
      'How can I get a refund?',
      'Who leads the security team?',
    ])
    await talks.rate(plan, 0, 'up')
    await talks.rate(plan, 2, 'down', 'Too short.')
    gap = await talks.talk(3, ANA, ['Is there a student discount?', 'Which countries do you ship to?'], { name: 'Discounts' })
    await talks.talk(2, BEN, ['Do you have a student discount?'])
    console = await open()
    page = console.page
  })
  after(async () => {
    await browser?.close()
    await talks?.stop()
  })

  const open = (key = talks.service.client.key, look = {}) =>
    Console.open(browser, talks.service.client.address.baseUrl, { ...look, key })
  const at = (path: string) => `/agents/${talks.agentId}${path}`
  const tile = async (name: string) =>
    (await page.locator('.insights-tile', { has: page.getByText(name, { exact: true }) }).innerText()).split('\n')
  const countSessions = async () => (await talks.service.client.get(at('/sessions?limit=1'))).body.pagination.total as number
  const ask = (name: string) => page.getByRole('button', { name: `Add an answer to “${name}”` })

  test('a time is summed up, beside the time before it', async () => {
    await console.goto(at('/insights'))
    await until('the time before is there', async () => (await tile('Turns')).length > 2)
    assert.deepEqual((await tile('Turns')).slice(0, 2), ['Turns', '6'])
    assert.match(await page.locator('.insights-change').first().innerText(), /200%/)
    assert.equal((await tile('Rated good'))[1], '50%')
    await page.getByText('Show as a table').first().click()
    const days = page.getByRole('table', { name: 'Turns a day' })
    assert.equal(await days.getByRole('row').count(), 31)
    const turns = (await days.getByRole('cell').allInnerTexts()).map(Number)
    assert.deepEqual(
      turns.filter((n) => n > 0),
      [3, 2, 1],
    )
    await page.getByRole('radio', { name: '7 days' }).click()
    await until('it is of 7 days', async () => (await tile('Turns'))[1] === '3')
    assert.match(page.url(), /days=7/)
    await console.goto(at('/insights?from=2020-01-01&to=2020-01-31'))
    await page.getByRole('heading', { name: 'Nothing was said in this time' }).waitFor()
    assert.deepEqual(console.troubles, [])
  })

  test('nothing moves when the time before comes late', async () => {
    const { promise: isDrawn, resolve } = Promise.withResolvers<void>()
    const other = await open()
    let asked = 0
    await other.page.route(/\/insights\?/, async (route) => {
      if (++asked === 2) await isDrawn
      await route.continue()
    })
    await other.goto(at('/insights'))
    assert.deepEqual(await other.moves(), [])
    resolve()
    await other.page.getByText('200%').first().waitFor()
    assert.deepEqual(await other.moves(), [])
    await other.close()
  })

  test('documents are listed by how often they were cited, and how that was rated', async () => {
    await console.goto(at('/insights'))
    const table = page.getByRole('table', { name: 'Documents' })
    const rows = async () =>
      (await table.getByRole('row').allInnerTexts()).slice(1).map((row) =>
        row
          .split(/\s*\n?\t\s*|\n/)
          .filter(Boolean)
          .join(' '),
      )
    const { documents } = (await talks.service.client.get(at('/insights'))).body
    const cited = documents.filter((document: { cited: number }) => document.cited > 0)
    assert.ok(cited.length > 1)
    assert.equal((await rows()).length, cited.length)
    await table.getByRole('button', { name: 'Sort by Rated bad' }).click()
    await until('the one rated bad is first', async () => (await rows())[0]?.startsWith('Security'))
    assert.match((await rows())[0]!, /1$/)
    await page.getByText(/were never cited/).waitFor()
  })

  test('a question without an answer leads to where it was asked, and is given one', async () => {
    await console.goto(at('/insights'))
    const asked = page.getByRole('row', { name: /student discount/ })
    assert.match(await asked.innerText(), /\b2\b/)
    await page
      .getByRole('row', { name: /countries/ })
      .getByRole('link', { name: 'Open the conversation' })
      .click()
    await page.getByRole('heading', { level: 1, name: 'Discounts' }).waitFor()
    assert.match(page.url(), new RegExp(gap.id))

    await console.goto(at('/insights'))
    const sessions = await countSessions()
    await ask('Which countries do you ship to?').click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await ask('Which countries do you ship to?').click()
    await page.getByRole('button', { name: 'Add and check' }).click()
    await page.getByText('Enter the answer.').waitFor()
    await page
      .getByRole('textbox', { name: 'Answer' })
      .fill('Lantern ships to all countries of the European Union, and to Norway.')
    await page.getByRole('button', { name: 'Add and check' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The agent answers it now').waitFor()
    await dialog.getByText(/Norway/).waitFor()
    await console.assertSound('the answered question')
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Answered now').waitFor()
    await until('the trial is deleted', async () => (await countSessions()) === sessions)
    const said = await talks.talk(0, BEN, ['Which countries do you ship to?'])
    assert.match(said.answers[0].aiMessage.content, /Norway/)
    assert.equal(said.answers[0].sources[0].title, 'Which countries do you ship to?')
  })

  test('an answer that does not do is changed in its place', async () => {
    const { client } = talks.service
    await console.goto(at('/insights'))
    const question = (await page.getByRole('rowheader', { name: /student discount/ }).innerText()).trim()
    const sessions = await countSessions()
    await ask(question).click()
    await page.getByRole('textbox', { name: 'Question' }).fill('Lamps in winter')
    await page.getByRole('textbox', { name: 'Answer' }).fill('They work down to minus ten degrees.')
    await page.getByRole('button', { name: 'Add and check' }).click()
    await page.getByText('The agent does not answer it from this text yet').waitFor()
    await page.getByRole('button', { name: 'Change the answer' }).click()
    await page.getByRole('textbox', { name: 'Question' }).fill('Is there a student discount?')
    await page.getByRole('textbox', { name: 'Answer' }).fill('Yes, we have a student discount: it is 30 percent.')
    await page.getByRole('button', { name: 'Save and check again' }).click()
    await page.getByText('The agent answers it now').waitFor()
    await until('the trials are deleted', async () => (await countSessions()) === sessions)
    const { documents } = (await client.get(at('/documents?limit=100'))).body
    const titles = documents.map(({ title }: { title: string }) => title)
    assert.ok(titles.includes('Is there a student discount?') && !titles.includes('Lamps in winter'), titles)
  })

  test('users are found, handed over and erased', async () => {
    const { client } = talks.service
    await console.goto(at('/users'))
    const ids = () => page.getByRole('rowheader').allInnerTexts()
    assert.deepEqual(
      (await ids()).map((id) => id.trim()),
      [ANA, BEN].sort(),
    )
    await page.getByRole('searchbox').fill(BEN.slice(0, 6))
    await until('only one is left', async () => String(await ids()) === BEN)
    await page.getByRole('searchbox').fill('')
    await page.getByRole('link', { name: ANA }).click()
    await page.getByRole('heading', { level: 1, name: 'Conversations' }).waitFor()
    await until('only those of the user', async () => (await ids()).length === 2)

    await console.goto(at('/users'))
    const actions = page.getByRole('button', { name: `Actions for ${ANA}` })
    await actions.click()
    const coming = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Export all that is kept' }).click()
    const file = await coming
    assert.equal(file.suggestedFilename(), `user-${ANA}.jsonl`)
    const lines = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const kept = (await client.get(at(`/users/${ANA}/export`))).text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(lines, kept)

    await actions.click()
    await page.getByRole('menuitem', { name: 'Erase…' }).click()
    const erase = page.getByRole('button', { name: 'Erase the user' })
    assert.ok(await erase.isDisabled())
    await page.getByLabel(/^Type /).fill(ANA.slice(0, 8))
    await erase.click()
    await until('it is no longer listed', async () => !(await ids()).includes(ANA))
    isError(await client.get(gap.path), 404, 'session_not_found')
    assert.equal((await client.get(at(`/users/${BEN}/export`))).status, 200)
    assert.deepEqual(console.troubles, [])
  })

  test('they look sound', { concurrency: true }, async (t) => {
    const lookAt = async (look: (typeof looks)[string]) => {
      const other = await open(undefined, look)
      for (const path of [at('/insights'), at('/users')]) {
        await other.goto(path)
        await other.assertSound(path)
      }
      await other.close()
    }
    await Promise.all(Object.entries(looks).map(([how, look]) => t.test(how, () => lookAt(look))))
  })
})
