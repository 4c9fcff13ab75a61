// The knowledge of an agent in the console: how it comes in, what becomes of it, and what is found in it.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { Console } from '../support/console.ts'
import { dropFiles } from '../support/drop-files.ts'
import { pdf } from '../support/pdf.ts'
import { until } from '../support/poll.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'
import { WebSite } from '../support/web-site.ts'

const BATTERY = pdf([
  [
    { text: 'The lantern', y: 700, size: 20 },
    { text: 'A lantern is a lamp that is carried by hand.', y: 650 },
  ],
  [{ text: 'The battery of the lantern works down to minus twenty degrees.', y: 700 }],
])

describe('the knowledge of an agent in the console', { skip: needsProcess }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-console-'))
  const site = new WebSite()
  let service: Service
  let browser: Browser
  before(async () => {
    await site.start()
    ;[service, browser] = await Promise.all([startService({ REPARTEE_FETCH_ALLOW: site.host }), openBrowser()])
  })
  after(async () => {
    await Promise.all([browser?.close(), service?.stop(), site.stop()])
    rmSync(folder, { recursive: true, force: true })
  })

  const write = (name: string, content: string | Buffer) => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }
  const open = async (path: (agentId: string) => string, settings: object = {}) => {
    const agentId = await service.newAgent({ model: 'extractive', ...settings })
    const { baseUrl } = service.client.address
    const console = await Console.open(browser, baseUrl, { key: service.client.key })
    const page = await console.goto(path(agentId))
    return { console, page, agentId, documents: `/agents/${agentId}/documents` }
  }
  const home = (agentId: string) => `/agents/${agentId}/knowledge`
  const row = (page: Page, title: string) => page.getByRole('row').filter({ hasText: title })
  const isReady = (page: Page, title: string) => row(page, title).getByText('Ready').waitFor()

  test('files and folders that are dropped become documents, a passage of them is found, and opened at its page', async () => {
    mkdirSync(join(folder, 'handbook/deep/node_modules'), { recursive: true })
    const file = write('battery.pdf', BATTERY)
    write('handbook/lamps.md', '# Lamps\n\nA lamp that flashes red has lost the network.')
    write('handbook/deep/prices.csv', 'lamp,price\nAurora,20\n')
    write('handbook/picture.png', 'no picture')
    write('handbook/deep/node_modules/readme.md', 'Not of this.')
    const { console, page, documents } = await open(home)
    await page.getByText('This agent knows nothing yet').waitFor()
    await dropFiles(page, page.getByText('Drop files or folders here'), [file, join(folder, 'handbook')])
    await page.getByText(/^2 files of the folder were left out/).waitFor()
    for (const title of ['The lantern', 'Lamps', 'prices.csv']) await isReady(page, title)
    assert.equal((await service.client.get(documents)).body.pagination.total, 3)
    // Rows that were not there before push others down.
    await console.assertSound('the list')

    await page.getByRole('tab', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill('How cold may the battery be?')
    await page.keyboard.press('Enter')
    const best = page.getByRole('main').getByRole('listitem').first()
    await best.getByText('works down to minus twenty degrees').waitFor()
    assert.deepEqual(await best.locator('mark').allInnerTexts(), ['battery'])
    assert.match(await best.getByRole('definition').first().innerText(), /^\d/)
    assert.deepEqual((await best.getByRole('term').allInnerTexts()).slice(0, 2), ['Words', 'Pieces'])
    await page.getByText(/\d+% sure that they hold the answer/).waitFor()
    await console.assertSound('what was found')
    await best.getByRole('link', { name: 'The lantern' }).click()
    const passage = page.locator('[aria-current=true]').filter({ hasText: 'minus twenty' })
    await passage.getByText('Page 2').waitFor()
    await console.settled()
    await console.assertSound('the document')
    await console.close()
  })

  test('files are picked by keyboard alone, and one that cannot be read says why and what to do', async () => {
    const { console, page } = await open(home)
    await page.getByText('This agent knows nothing yet').waitFor()
    await until('the button has the focus', async () => {
      await page.keyboard.press('Tab')
      return (await page.evaluate('document.activeElement.textContent')) === 'Choose files'
    })
    const chooser = page.waitForEvent('filechooser')
    // The first key may come while the page is still being drawn.
    await until('files are asked for', async () => {
      await page.keyboard.press('Enter')
      return Promise.race([chooser.then(() => true), pause(1_000, false)])
    })
    const locked = write('locked.pdf', pdf([[{ text: 'Secret', y: 700 }]], { encrypted: true }))
    await (await chooser).setFiles([locked, write('opening.txt', 'The shop opens at nine.')])
    await isReady(page, 'opening.txt')
    await row(page, 'locked.pdf').getByText('It is protected by a password. Save it without a password').waitFor()
    await page.getByText('1 document could not be read.').waitFor()
    await page.getByRole('button', { name: 'Show why' }).click()
    await row(page, 'opening.txt').waitFor({ state: 'detached' })
    await row(page, 'locked.pdf').waitFor()
    await console.close()
  })

  test('an upload that fails is kept with its reason, and works when it is tried again', async () => {
    const { console, page } = await open(home)
    await page.route('**/v1/agents/*/documents/upload', (route) =>
      route.fulfill({
        status: 413,
        json: { success: false, error: { code: 'payload_too_large', message: 'The file is larger than a document may be.' } },
      }),
    )
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose files' }).click()
    await (await chooser).setFiles([1, 2, 3, 4, 5].map((n) => write(`note ${n}.txt`, `Note ${n} is about the number ${n}.`)))
    await page.getByText('5 files could not be uploaded').waitFor()
    await page.getByText('The file is larger than this service takes. Send it in parts.').first().waitFor()
    await page.unroute('**/v1/agents/*/documents/upload')
    await page.getByRole('button', { name: 'Try note 3.txt again' }).click()
    await isReady(page, 'note 3.txt')
    await page.getByRole('button', { name: 'Try all again' }).click()
    for (const n of [1, 2, 4, 5]) await isReady(page, `note ${n}.txt`)
    await page.getByRole('heading', { name: 'Uploads' }).waitFor({ state: 'detached' })
    await console.close()
  })

  test('a text is added, named anew and described, and deleted', async () => {
    const { console, page, documents } = await open(home)
    await page.getByRole('button', { name: 'Add text' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add text' })
    await dialog.getByRole('button', { name: 'Add' }).click()
    await dialog.getByText('Enter the text.').waitFor()
    await dialog.getByRole('textbox', { name: /^Text/ }).fill('# Vouchers\n\nVouchers can be shared.')
    await console.assertSound('the dialog')
    await dialog.getByRole('button', { name: 'Add' }).click()
    await row(page, 'Vouchers').getByRole('link').click()
    await page.getByText('Vouchers can be shared.').waitFor()

    await page.getByRole('textbox', { name: 'Title' }).fill('Vouchers and gifts')
    await page.getByRole('button', { name: 'Add metadata' }).click()
    await page.getByLabel('Name 1').fill('year')
    await page.getByRole('button', { name: /Kind 1/ }).click()
    await page.getByRole('option', { name: 'Number' }).click()
    await page.getByLabel('Value 1').fill('this')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Enter a number.').waitFor()
    await page.getByLabel('Value 1').fill('2026')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'Vouchers and gifts' }).waitFor()
    const [document] = (await service.client.get(documents)).body.documents
    assert.deepEqual([document.title, document.metadata], ['Vouchers and gifts', { year: 2026 }])

    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the document' }).click()
    await page.getByText('This agent knows nothing yet').waitFor()
    assert.equal((await service.client.get(documents)).body.pagination.total, 0)
    await console.close()
  })

  test('a document is replaced by a file, and keeps its title and its metadata', async () => {
    const agentId = await service.newAgent({ model: 'extractive' })
    const given = { title: 'Hours', text: 'The shop opens at nine.', metadata: { lang: 'en' } }
    const { id } = (await service.client.post(`/agents/${agentId}/documents`, given)).body.document
    const console = await Console.open(browser, service.client.address.baseUrl, { key: service.client.key })
    const page = await console.goto(`/agents/${agentId}/knowledge/documents/${id}`)
    await page.getByText('The shop opens at nine.').waitFor()
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Replace with a file' }).click()
    await (await chooser).setFiles(write('hours.txt', 'The shop opens at ten.'))
    await page.getByText('The shop opens at ten.').waitFor()
    const { document } = (await service.client.get(`/agents/${agentId}/documents/${id}`)).body
    assert.deepEqual([document.title, document.metadata], [given.title, given.metadata])
    await console.close()
  })

  test('a long list comes page by page, and several documents are deleted at once', async () => {
    const { console, page, documents } = await open(home)
    for (let n = 0; n < 52; n++) await service.client.post(documents, { title: `Note ${n}`, text: `Note ${n}.` })
    await page.reload()
    await page.getByText('50 of 52').waitFor()
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByText('52 of 52').waitFor()
    for (const n of [50, 51]) await page.getByRole('checkbox', { name: `Select Note ${n}` }).click({ force: true })
    await page.getByText('2 documents are selected').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 documents' }).click()
    await page.getByText('50 of 50').waitFor()
    await console.close()
  })

  test('a site is added, comes in, is brought up to date, and goes with its documents', async () => {
    site.pages.set('/', '<title>Shop</title><p>The shop opens at nine. <a href="/more">more</a></p>')
    site.pages.set('/more', '<title>More</title><p>It closes at six.</p>')
    const { console, page, agentId } = await open((id) => `${home(id)}/sources`)
    await page.getByText('No page of the web is kept in step').waitFor()
    await page.getByRole('button', { name: 'Add from the web' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add from the web' })
    await dialog.getByText('A whole site').click()
    await dialog.getByRole('textbox', { name: /^Address/ }).fill('shop.example')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText('shop.example is no address').waitFor()
    await dialog.getByRole('textbox', { name: /^Address/ }).fill(site.url('/'))
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('2 found, 2 new or changed, 0 as before').waitFor()
    await console.assertSound('the sources')
    await page.getByRole('button', { name: /^Actions of/ }).click()
    await page.getByRole('menuitem', { name: 'Bring up to date now' }).click()
    await page.getByText('2 found, 0 new or changed, 2 as before').waitFor()
    await page.getByRole('button', { name: /^Actions of/ }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the source' }).click()
    await page.getByText('No page of the web is kept in step').waitFor()
    assert.equal((await service.client.get(`/agents/${agentId}/documents`)).body.pagination.total, 0)
    await console.close()
  })
})
