// From the first start to the first answer from a document of one's own, as a newcomer does it: with what the start prints, and a mouse.
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { launch, removedAtExit } from '../support/cleanup.ts'
import { Console } from '../support/console.ts'
import { pdf } from '../support/pdf.ts'
import { until } from '../support/poll.ts'
import { needsProcess } from '../support/service.ts'

const MAIN = fileURLToPath(new URL('../../src/start.js', import.meta.url))
const SAID = 'The battery of the lantern works down to minus twenty degrees.'
/** A person takes about so long to find the next thing and to press it, and types so fast. */
const CLICK_MS = 4_000
const CHARACTER_MS = 250

/** Does as a person would, and counts how long that would take. */
class Person {
  readonly #page: Page
  /** Beside what the machine takes. */
  ms = 0

  constructor(page: Page) {
    this.#page = page
  }

  async click(role: 'button' | 'link' | 'radio', name: string | RegExp): Promise<void> {
    this.ms += CLICK_MS
    await this.#page.getByRole(role, { name }).first().click()
  }

  async type(label: string, text: string, isPasted = false): Promise<void> {
    this.ms += CLICK_MS + (isPasted ? 0 : text.length * CHARACTER_MS)
    await this.#page.getByRole('textbox', { name: label }).first().fill(text)
  }

  async press(key: string): Promise<void> {
    this.ms += CHARACTER_MS
    await this.#page.keyboard.press(key)
  }

  /** In the dialog of the machine. */
  async choose(button: string, file: string): Promise<void> {
    const chooser = this.#page.waitForEvent('filechooser')
    await this.click('button', button)
    this.ms += 3 * CLICK_MS
    await (await chooser).setFiles(file)
  }
}

test('from the start to an answer from an uploaded PDF takes less than two minutes', { skip: needsProcess }, async (t) => {
  const folder = removedAtExit(mkdtempSync(join(tmpdir(), 'repartee-first-')))
  const file = join(folder, 'lantern.pdf')
  writeFileSync(file, pdf([[{ text: 'The lantern', y: 700, size: 20 }], [{ text: SAID, y: 700 }]]))
  const { PATH, HOME } = process.env
  const begun = performance.now()
  const child = launch(process.execPath, [MAIN], {
    env: { PATH, HOME, REPARTEE_PORT: '0', REPARTEE_DATA: join(folder, 'data'), REPARTEE_LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const browser = await openBrowser()
  let printed = ''
  child.stdout!.on('data', (chunk: Buffer) => (printed += chunk))
  await until('the start has said what to do', () => /Ctrl\+C/.test(printed))
  const [, address] = /Console:\s+(\S+)/.exec(printed)!
  const [, key] = /Admin key[^:]*:\s+(rpt_\w{40})/.exec(printed)!

  const console = await Console.open(browser, address!)
  const { page } = console
  const person = new Person(page)
  await page.goto(address!)
  await person.type('API key', key!, true)
  await person.click('button', 'Sign in')
  await person.click('link', 'Create an agent')
  await person.type('Name', 'Lantern helper')
  await person.click('button', 'Create the agent')
  await page.getByRole('heading', { level: 1, name: 'Knowledge' }).waitFor()
  await person.choose('Choose files', file)
  await page.getByRole('row').filter({ hasText: 'The lantern' }).getByText('Ready').waitFor()
  await person.click('link', 'Playground')
  await person.type('Message', 'Down to how many degrees does the battery work?')
  await person.press('Enter')
  const thread = page.getByRole('region', { name: 'Conversation' })
  await thread.getByText(SAID).waitFor()
  await person.click('button', 'Source 1: The lantern')
  await page.getByRole('dialog').getByText('minus twenty').first().waitFor()
  const machineMs = performance.now() - begun
  assert.deepEqual(console.troubles, [])
  t.diagnostic(`${Math.round(person.ms / 1_000)} s of a person, ${Math.round(machineMs / 1_000)} s of the machine`)
  assert.ok(person.ms < 120_000, `a person needs ${person.ms} ms`)
})
