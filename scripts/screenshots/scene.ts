import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ChatSite } from '../../test/support/chat-site.ts'
import { type Behaviour, type ModelCall, refuses, says } from '../../test/support/model-server.ts'
import { pdf } from '../../test/support/pdf.ts'
import { until } from '../../test/support/poll.ts'
import { type Service, startService } from '../../test/support/service.ts'
import { WebSite } from '../../test/support/web-site.ts'
import {
  AGENTS,
  COMMENTS,
  DOCUMENTS,
  DONT_KNOW,
  FOLLOW_UPS,
  NAMES,
  QUESTIONS,
  REPLIES,
  SHOP,
  SHOP_STYLE,
  UNKNOWN,
} from './words.ts'

const DAY_MS = 86_400_000
const FIXTURES = new URL('../../test/fixtures/answers/', import.meta.url)
const DAYS = 45

/** A service filled with sample activity. */
export interface Scene {
  service: Service
  origin: string
  /** Public addresses that replace this machine's addresses in pictures. */
  addresses: Record<string, string>
  agentId: string
  emptyAgentId: string
  documentId: string
  failedDocumentId: string
  sessionId: string
  failedSessionId: string
  webhookId: string
  /** URL of the shop page that contains the chat. */
  shop: string
  close(): Promise<void>
}

/** The model's behaviour: it answers only from the passages in its prompt. */
export const answers: Behaviour = async (call, response) => {
  // Replies take time, as with a real model. Auxiliary calls are answered at once.
  const isReply = !/^(Suggest|Name|Rewrite)/.test(call.messages[0]?.content ?? '')
  if (isReply) await pause(100 + (call.messages.at(-1)!.content.length % 7) * 50)
  await says(replyTo(call))(call, response)
}

export function replyTo({ messages }: ModelCall): string {
  const system = messages[0]?.content ?? ''
  const last = messages.at(-1)?.content ?? ''
  const asked = last.slice(last.lastIndexOf('</passage>') + 1)
  if (system.includes('Suggest questions'))
    return JSON.stringify({ questions: FOLLOW_UPS.map((text, i) => ({ text, confidence: 0.9 - i / 10 })) })
  const question = QUESTIONS.findLast((text) => asked.includes(text)) ?? ''
  if (system.startsWith('Name the conversation')) return NAMES[question] ?? (question || 'A question')
  if (system.startsWith('Rewrite')) return question
  const passages = [...last.matchAll(/<passage n="(\d+)" from="([^"]*)"/g)]
  return (REPLIES[question] ?? DONT_KNOW).replace(/\{([^}]*)\}/g, (_, title: string) => {
    const n = passages.find(([, , from]) => from!.split(' › ').some((part) => part.startsWith(title)))?.[1]
    return n === undefined ? '' : `[${n}]`
  })
}

export async function makeScene(): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-pictures-'))
  const clock = join(folder, 'clock')
  const goBack = (days: number) => {
    writeFileSync(`${clock}.new`, String(-Math.round(days * DAY_MS)))
    renameSync(`${clock}.new`, clock)
  }
  goBack(DAYS)
  const site = await new WebSite().start()
  const receiver = await startReceiver()
  const prices = join(folder, 'prices.json')
  writeFileSync(prices, JSON.stringify({ 'openai/gpt-5-mini': { input: 2.5, output: 10 } }))
  const service = await startService({
    NODE_OPTIONS: `--import=${new URL('../../test/support/shifted-clock.ts', import.meta.url)}`,
    TEST_CLOCK: clock,
    REPARTEE_PRICES: prices,
    REPARTEE_FETCH_ALLOW: `${site.host},${receiver.host}`,
    REPARTEE_FETCH_TIMEOUT_MS: '600000',
  })
  const { client } = service
  service.model.behaviour = answers
  service.model.lists = {
    '/v1/models': { data: ['gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'text-embedding-3-small'].map((id) => ({ id })) },
  }
  const origin = new URL(client.address.baseUrl).origin
  const emptyAgentId = await service.newAgent({ name: 'Newcomer', model: 'extractive' })
  for (const [i, agent] of AGENTS.entries()) {
    goBack(DAYS - 3 * i)
    await service.newAgent(agent)
  }
  const shop = new ChatSite(
    async (agentId, ttlSeconds) =>
      (await client.post(`/agents/${agentId}/tokens`, { externalUserId: randomUUID(), ttlSeconds })).body,
  )
  const shopOrigin = await shop.listen()
  goBack(DAYS - 40)
  const agentId = await service.newAgent({
    name: 'Lantern help centre',
    model: 'openai/gpt-5-mini',
    greeting: 'Hello! Ask me anything about your lamps, your plan or your orders.',
    instructions:
      'You answer questions of the customers of Lantern, a small maker of lamps.\n\n- Answer first, then explain.\n- Be brief and friendly, and never invent prices.\n- Where a person is needed, name help@lantern.example.',
    starters: ['How do I get a refund?', 'My lamp flashes red. What is wrong?', 'What does the Team plan cost?'],
    followUps: { enabled: true },
    autoName: true,
    budget: { tokensPerDay: 200_000, costPerDay: 5, tokensPerUserPerDay: 20_000 },
    retentionDays: 365,
    allowedOrigins: ['https://lantern.example', shopOrigin],
  })
  shop.agent = agentId
  shop.pages['/open'] =
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Lantern</title><style>${SHOP_STYLE}</style><script src="${origin}/widget.js" defer data-agent="${agentId}" data-token-url="/chat-token" data-title="Ask Lantern"></script></head><body>${SHOP}</body></html>`
  shop.pages['/open/ar'] = shop.pages['/open'].replace('lang="en"', 'lang="ar" dir="rtl"').replace('data-title="Ask Lantern"', '')
  const at = (path: string) => `/agents/${agentId}${path}`

  goBack(DAYS - 1)
  const webhookId = await addWebhooks(service, receiver, agentId)
  const { documentId, failedDocumentId } = await addDocuments(service, agentId, site)
  goBack(0)

  // Conversations, the oldest first: more every week, and fewer on Sundays.
  const users = Array.from({ length: 14 }, () => randomUUID())
  let turn = 0
  let visit = 0
  const talk = async (questions: string[], body: object = {}) => {
    const path = await service.newSession(agentId, { externalUserId: users[visit++ % users.length], ...body })
    for (const message of questions) {
      turn++
      const sent = await client.post(`${path}/messages`, { message, include: ['sources', 'usage', 'trace'] })
      if (sent.status !== 200 || turn % 4 !== 0) continue
      const isBad = turn % 12 === 0
      await client.put(`${path}/messages/${sent.body.aiMessage.id}/feedback`, {
        rating: isBad ? 'down' : 'up',
        ...(turn % 8 === 0 && { comment: COMMENTS[isBad ? (turn / 12) % 2 : 2] }),
      })
    }
    return path.split('/').at(-1)!
  }
  let failedSessionId = ''
  for (let day = 40; day >= 1; day--) {
    const count = day % 7 === 0 ? 1 : 1 + Math.floor((44 - day) / 14) + (day % 3)
    goBack(day)
    const talks = Array.from({ length: count }, (_, i) => {
      const first = QUESTIONS[(day * 3 + i) % QUESTIONS.length]!
      const more = (day + i) % 3 === 0 ? [QUESTIONS[(day + i) % QUESTIONS.length]!] : []
      const gap = (day + i) % 5 === 0 ? [UNKNOWN[(day + i) % UNKNOWN.length]!] : []
      return talk([first, ...more, ...gap])
    })
    await Promise.all(talks)
    if (day === 12 || day === 2) {
      service.model.behaviour = refuses(503)
      goBack(day - 0.4)
      failedSessionId = await talk(['My lamp has been offline since the storm on Tuesday, what can I do?'], {
        name: 'Offline since the storm',
      })
      service.model.behaviour = answers
    }
  }
  goBack(0.4)
  await talk(['كيف أعيد المصباح؟'], { name: 'إرجاع مصباح' })
  await client.post(at('/sessions/import'), {
    name: 'Imported from the old help desk',
    externalUserId: users[3],
    messages: [
      { role: 'USER', content: 'Where is my parcel?' },
      { role: 'AI', content: 'It left our workshop yesterday.' },
    ],
  })
  goBack(0.05)
  const sessionId = await talk([
    'How do I get a refund?',
    'Which lamps are there, and how bright are they?',
    'Is there a student discount?',
    'How do I restore a backup?',
  ])
  goBack(0)
  await until('the session has its name', async () => {
    const { body } = await client.get(at(`/sessions/${sessionId}`))
    return !/^\d{4}-/.test(body.session.name)
  })
  await addKeys(service, agentId)
  for (const [path, body] of [
    ['/pending', { url: site.url('/orders/never') }],
    ['/web', { type: 'site', url: site.url('/help/'), refreshHours: 24 }],
    ['/web', { type: 'sitemap', url: site.url('/sitemap.xml') }],
  ] as const)
    await client.post(at(path === '/web' ? '/sources' : '/documents'), body)
  const webShop = (await client.get('/agents?limit=50')).body.agents.find(({ name }: { name: string }) => name === 'Web shop')
  const spent = await service.newSession(webShop.id)
  for (let i = 0; i < 9; i++) await client.post(`${spent}/messages`, { message: QUESTIONS[i]! })
  // Leaves little of the budget.
  await client.patch(`/agents/${webShop.id}`, { budget: { tokensPerDay: 280 } })
  await until('the sources were read', async () => {
    const { sources } = (await client.get(at('/sources'))).body
    return sources.every(({ status }: { status: string }) => status === 'ready' || status === 'failed')
  })

  return {
    ...{ service, origin, agentId, emptyAgentId, documentId, failedDocumentId, sessionId, failedSessionId, webhookId },
    addresses: {
      [origin]: 'https://chat.lantern.example',
      [receiver.origin]: 'https://hooks.lantern.example',
      [`http://${site.host}`]: 'https://lantern.example',
      [site.host]: 'lantern.example',
      [receiver.host]: 'hooks.lantern.example',
    },
    shop: `${shopOrigin}/open`,
    async close() {
      await service.stop()
      await site.stop()
      shop.close()
      receiver.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A webhook receiver: one URL accepts events, one fails, one is gone. */
async function startReceiver() {
  const server = createServer((request, response) => {
    request.resume()
    const status = request.url === '/crm' ? 204 : request.url === '/old' ? 410 : 503
    request.on('end', () => response.writeHead(status).end(status === 503 ? 'try later' : ''))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    origin: `http://${host}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function addWebhooks({ client }: Service, receiver: { origin: string }, agentId: string): Promise<string> {
  const events = ['session.created', 'message.completed', 'turn.failed']
  const made = []
  for (const [path, body] of [
    ['/crm', { events }],
    ['/chat-bridge/rooms/support-second-line', { events: ['turn.failed', 'document.failed'], agentIds: [agentId] }],
    ['/old', { events: ['document.ready'] }],
  ] as const) {
    const { body: answer } = await client.post('/webhooks', { url: `${receiver.origin}${path}`, ...body })
    made.push(answer.webhook.id)
  }
  await client.post(`/webhooks/${made[2]}/test`)
  return made[1]!
}

async function addDocuments({ client }: Service, agentId: string, site: WebSite) {
  const path = `/agents/${agentId}/documents`
  const upload = async (name: string, bytes: Buffer | string, type: string) => {
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(Buffer.from(bytes))], { type }), name)
    const answer = await fetch(`${client.address.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'X-API-Key': client.key },
      body: form,
    })
    return ((await answer.json()) as { document: { id: string } }).document.id
  }
  site.pages.set(
    '/help/',
    '<title>Help centre</title><main><h1>Help centre</h1><p>Where to begin.</p><a href="/help/orders">Orders</a> <a href="/help/app">The app</a> <a href="/help/broken">Old</a></main>',
  )
  site.pages.set(
    '/help/orders',
    '<title>Orders and invoices</title><main><h1>Orders and invoices</h1><p>An order can be changed until it is packed.</p></main>',
  )
  site.pages.set(
    '/help/app',
    '<title>The app</title><main><h1>The app</h1><p>The app needs a telephone that is not older than six years.</p></main>',
  )
  site.pages.set('/help/broken', (_request, response) => void response.writeHead(500).end())
  site.pages.set('/press', '<title>Press</title><main><h1>Press</h1><p>Pictures of all lamps can be used freely.</p></main>')
  site.pages.set('/orders/never', () => {})
  for (const filename of readdirSync(FIXTURES)) await upload(filename, readFileSync(new URL(filename, FIXTURES)), 'text/markdown')
  for (const [title, text] of Object.entries(DOCUMENTS))
    await client.post(path, {
      title,
      markdown: text,
      ...(title === 'Warranty' && { metadata: { audience: 'customers', years: 3 } }),
    })
  await client.post(path, { url: site.url('/press') })
  await client.post(path, { url: site.url('/campaigns/2024/summer/a-very-long-address-of-a-page-that-was-moved-somewhere-else') })
  const manual = await upload('aurora-manual-v3.pdf', MANUAL, 'application/pdf')
  const failed = await upload(
    'Price list 2026 (confidential).pdf',
    pdf([[{ text: 'Secret', y: 700 }]], { encrypted: true }),
    'application/pdf',
  )
  await upload('scan of the old manual.pdf', pdf([[]]), 'application/pdf')
  await until('the documents are read', async () => {
    const { documents } = (await client.get(`${path}?limit=100`)).body
    return documents.every(({ status }: { status: string }) => status === 'ready' || status === 'failed')
  })
  const { documents } = (await client.get(`${path}?limit=100`)).body
  const billing = documents.find(({ title }: { title: string }) => title === 'Plans and billing')
  await client.patch(`${path}/${billing.id}`, { metadata: { audience: 'customers', language: 'en', reviewed: true } })
  return { documentId: billing.id as string, failedDocumentId: failed, manual }
}

const MANUAL = pdf(
  [
    [
      { text: 'Aurora: the manual', y: 700, size: 20 },
      { text: 'Aurora is a lamp of 5 watts. It is connected by scanning the code on its base.', y: 650 },
    ],
    [{ text: 'The battery of Aurora lasts nine hours, and works down to minus twenty degrees.', y: 700 }],
  ],
  { title: 'Aurora: the manual' },
)

async function addKeys({ client }: Service, agentId: string): Promise<void> {
  const key = (body: object) => client.post('/keys', body)
  await key({
    name: 'Migration from the old help desk',
    scopes: ['chat', 'knowledge'],
    expiresAt: new Date(Date.now() + 2 * DAY_MS).toISOString(),
  })
  await key({ name: 'Editors', scopes: ['read', 'knowledge'] })
  const { secret } = (
    await key({ name: 'Web shop', scopes: ['chat'], agentIds: [agentId], budget: { tokensPerDay: 5_000, costPerDay: 1.5 } })
  ).body
  await key({ name: 'Reporting, every night', scopes: ['read'] })
  const { key: rolled } = (await key({ name: 'Mobile app', scopes: ['chat'], agentIds: [agentId] })).body
  await client.post(`/keys/${rolled.id}/roll`, { overlapSeconds: 0 })
  const session = (await client.post(`/agents/${agentId}/sessions`, {}, { key: secret })).body.session
  for (const message of QUESTIONS.slice(0, 3))
    await client.post(`/agents/${agentId}/sessions/${session.id}/messages`, { message }, { key: secret })
  await client.delete(`/agents/${agentId}/sessions/${session.id}`)
}
