// Makes the pictures of the console that the docs show, in docs/images/console, from a service of its own; run by hand: node scripts/screenshots.ts
import { mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openBrowser } from '../test/support/browser.ts'
import { Console, type Look } from '../test/support/console.ts'
import { until } from '../test/support/poll.ts'
import { startService } from '../test/support/service.ts'

const OUT = fileURLToPath(new URL('../docs/images/console/', import.meta.url))
const DOCUMENTS = ['quick-start', 'documents', 'models', 'keys', 'answers']
const QUESTIONS = ['How do I add my own documents?', 'Which models can I use?', 'How is a lost admin key replaced?']

/** Each picture: the page, how it is looked at, and the question that is asked on it first. */
const PICTURES: Record<string, { path: string; look?: Look; ask?: string }> = {
  overview: { path: '/' },
  setup: { path: '/agents/AGENT', look: { scheme: 'dark' }, ask: 'How is a lost admin key replaced?' },
  agents: { path: '/agents' },
  'new-agent': { path: '/agents/new' },
  phone: { path: '/', look: { size: 'phone', scheme: 'dark' } },
  arabic: { path: '/agents/new', look: { language: 'ar' } },
}

const service = await startService()
const browser = await openBrowser()
try {
  for (const name of ['Physics teacher', 'Company handbook', 'Customer support'])
    await service.newAgent({ name, model: 'extractive' })
  const agentId = await service.newAgent({
    name: 'Documentation assistant',
    model: 'extractive',
    greeting: 'Ask me anything about our product. I answer from its documentation.',
    instructions: 'You answer questions about our product from its documentation.\n\n- Answer first, then explain.',
    starters: QUESTIONS.slice(0, 2),
    followUps: { enabled: true },
  })
  for (const name of DOCUMENTS) {
    const markdown = readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8')
    await service.client.post(`/agents/${agentId}/documents`, { markdown })
  }
  await until('the documents are ready', async () => {
    const { body } = await service.client.get(`/agents/${agentId}/documents?status=ready`)
    return body.pagination.total === DOCUMENTS.length
  })
  for (const question of QUESTIONS) {
    const session = await service.newSession(agentId, { name: question })
    await service.client.post(`${session}/messages`, { message: question })
  }
  mkdirSync(OUT, { recursive: true })
  for (const [name, { path, look, ask }] of Object.entries(PICTURES)) {
    const console = await Console.open(browser, service.client.address.baseUrl, { ...look, key: service.client.key })
    // Small enough for a page of the docs.
    if (look?.size === undefined) await console.page.setViewportSize({ width: 1280, height: 560 })
    const page = await console.goto(path.replace('AGENT', agentId))
    if (ask !== undefined) {
      await page.getByLabel('Question', { exact: true }).fill(ask)
      await page.keyboard.press('Enter')
      await page.getByRole('list', { name: 'Sources' }).waitFor()
      await page.locator('.trial-reply sup').first().waitFor()
      await page.evaluate('scrollTo(0, 0)')
    }
    await page.screenshot({ path: `${OUT}${name}.png` })
    await console.close()
  }
} finally {
  await Promise.all([browser.close(), service.stop()])
}
