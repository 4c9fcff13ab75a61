import type { Page } from 'playwright-core'
import { streams } from '../../test/support/model-server.ts'
import { settled } from './camera.ts'
import { answers, replyTo, type Scene } from './scene.ts'

export interface Picture {
  /** Relative to the service. `AGENT` and other names of the scene are placeholders for ids. */
  path: string
  /** Actions on the page before the picture is taken. */
  act?(page: Page, scene: Scene): Promise<unknown>
  /** Cleanup after the picture. */
  after?(scene: Scene): void
  /** Taken without a key, as a visitor who is not signed in. */
  isOutside?: boolean
  /** Taken in the shop, not in the service. */
  isShop?: boolean
  /** Limited to the window's height, because an overlay covers the page. */
  isWindow?: boolean
}

const ask = async (page: Page, question: string) => {
  await page.locator('.playground-input').fill(question)
  // On a phone, Enter starts a new line.
  await page.locator('.playground-composer button').last().click()
}
const isReplied = (page: Page) => page.locator('.playground-sources').last().waitFor()
const chat = async (page: Page) => {
  await page.locator('.launcher').click()
  await page.mouse.move(0, 0)
  await page.locator('.welcome .chips button').first().waitFor()
}
const chatAsk = async (page: Page, question: string) => {
  await chat(page)
  await page.locator('.panel textarea').fill(question)
  await page.locator('.go').click()
  await page.mouse.move(0, 0)
  await page.locator('.reply[data-state=done]').waitFor()
  await page.locator('.chips button').last().waitFor()
}

/** Every page, and everything that opens over it. */
export const pictures: Record<string, Picture> = {
  'sign-in': { path: '/console/', isOutside: true },
  'sign-in-refused': {
    path: '/console/',
    isOutside: true,
    act: async (page) => {
      await page.locator('input[name=key]').fill('rpt_nothing')
      await page.keyboard.press('Enter')
      await page.locator('.field-error').waitFor()
    },
  },
  overview: { path: '/console/' },
  agents: { path: '/console/agents' },
  'agents-none': {
    path: '/console/agents',
    act: async (page) => {
      await page.getByRole('searchbox').fill('zzzz')
      await page.locator('.empty').waitFor()
    },
  },
  'new-agent': { path: '/console/agents/new' },
  setup: {
    path: '/console/agents/AGENT',
    act: async (page) => {
      const field = page.locator('.trial-line input, .trial-line textarea')
      if (!(await field.isVisible().catch(() => false))) return
      await field.fill('What does the Team plan cost?')
      await page.keyboard.press('Enter')
      await page.locator('.trial-sources').waitFor()
      await page.evaluate('scrollTo(0, 0)')
    },
  },
  'setup-trial': {
    path: '/console/agents/AGENT',
    isWindow: true,
    act: async (page) => {
      const open = page.locator('.trial-open')
      if (await open.isVisible()) await open.click()
      await page.getByRole('button', { name: 'How do I get a refund?' }).click()
      await page.locator('.trial-sources').waitFor()
    },
  },
  knowledge: { path: '/console/agents/AGENT/knowledge' },
  'knowledge-empty': { path: '/console/agents/EMPTY/knowledge' },
  'knowledge-sources': { path: '/console/agents/AGENT/knowledge/sources' },
  'knowledge-search': { path: '/console/agents/AGENT/knowledge/search?q=How%20do%20I%20get%20a%20refund%3F' },
  document: { path: '/console/agents/AGENT/knowledge/documents/DOCUMENT' },
  'document-failed': { path: '/console/agents/AGENT/knowledge/documents/FAILED_DOCUMENT' },
  'add-text': {
    path: '/console/agents/AGENT/knowledge',
    isWindow: true,
    act: (page) => page.locator('.knowledge-drop-ways button').nth(1).click(),
  },
  'playground-empty': { path: '/console/agents/AGENT/playground', isWindow: true },
  playground: {
    path: '/console/agents/AGENT/playground',
    isWindow: true,
    act: async (page) => {
      await ask(page, 'How do I get a refund?')
      await isReplied(page)
    },
  },
  'playground-writing': {
    path: '/console/agents/AGENT/playground',
    isWindow: true,
    act: async (page, { service }) => {
      const never = new Promise<void>(() => {})
      service.model.behaviour = (call, response) => {
        const words = replyTo(call).match(/\s*\S+/g)!
        const half = Math.ceil(words.length / 2)
        return streams(words, { gates: [...Array(half).fill(Promise.resolve()), never] })(call, response)
      }
      await ask(page, 'How do I restore a backup?')
      await page.locator('.playground-dots').waitFor()
      await page.getByText('Stop the server').waitFor()
    },
    after: ({ service }) => {
      service.model.behaviour = answers
    },
  },
  'playground-source': {
    path: '/console/agents/AGENT/playground',
    isWindow: true,
    act: async (page) => {
      await ask(page, 'How do I get a refund?')
      await isReplied(page)
      await page.locator('.playground-sources button').first().click()
      await page.locator('.playground-card').waitFor()
      await settled(page)
    },
  },
  'playground-details': {
    path: '/console/agents/AGENT/playground/SESSION',
    isWindow: true,
    act: async (page) => {
      await page.locator('.playground-tools').last().locator('button:not(.button-icon)').click()
      await page.locator('.drawer-end').waitFor()
    },
  },
  conversations: { path: '/console/agents/AGENT/conversations' },
  'conversations-none': { path: '/console/agents/EMPTY/conversations' },
  conversation: { path: '/console/agents/AGENT/conversations/SESSION' },
  'conversation-details': {
    path: '/console/agents/AGENT/conversations/SESSION',
    act: (page) => page.locator('.conversations-details > summary').first().click(),
  },
  'conversation-failed': { path: '/console/agents/AGENT/conversations/FAILED_SESSION' },
  insights: { path: '/console/agents/AGENT/insights' },
  'insights-empty': { path: '/console/agents/EMPTY/insights' },
  users: { path: '/console/agents/AGENT/users' },
  embed: { path: '/console/agents/AGENT/embed' },
  keys: { path: '/console/keys' },
  'new-key': {
    path: '/console/keys',
    isWindow: true,
    act: async (page) => {
      await page.locator('.page-head button').last().click()
      await page.locator('.dialog').waitFor()
    },
  },
  webhooks: { path: '/console/webhooks' },
  webhook: { path: '/console/webhooks/WEBHOOK' },
  'new-webhook': {
    path: '/console/webhooks',
    isWindow: true,
    act: async (page) => {
      await page.locator('.page-head button').last().click()
      await page.locator('.dialog').waitFor()
    },
  },
  usage: { path: '/console/usage' },
  audit: { path: '/console/audit' },
  system: { path: '/console/system' },
  nowhere: { path: '/console/nowhere' },
  palette: {
    path: '/console/',
    isWindow: true,
    act: async (page) => {
      await page.keyboard.press('Control+k')
      await page.locator('.palette').waitFor()
    },
  },
  menu: {
    path: '/console/agents/AGENT',
    isWindow: true,
    act: async (page) => {
      const button = page.locator('.topbar button').first()
      if (await button.isVisible()) await button.click()
      else await page.locator('.sidebar .switcher').first().click()
    },
  },
  docs: { path: '/docs/' },
  'docs-guide': { path: '/docs/console/' },
  'docs-api': { path: '/docs/api/#sendMessage', isWindow: true },
  'docs-search': {
    path: '/docs/quick-start/',
    isWindow: true,
    act: async (page) => {
      const menu = page.locator('#menu')
      if (await menu.isVisible()) await menu.click()
      await page.locator('#search').fill('key')
      await page.locator('#results li').first().waitFor()
    },
  },
  'widget-closed': { path: '', isShop: true, isWindow: true, act: (page) => page.locator('.launcher').waitFor() },
  'widget-open': { path: '', isShop: true, isWindow: true, act: chat },
  'widget-reply': { path: '', isShop: true, isWindow: true, act: (page) => chatAsk(page, 'Which countries do you ship to?') },
  'widget-table': {
    path: '',
    isShop: true,
    isWindow: true,
    act: (page) => chatAsk(page, 'Which lamps are there, and how bright are they?'),
  },
}
