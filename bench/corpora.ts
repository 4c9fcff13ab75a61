// Sends collections of hostile input to a service and checks the results: no 5xx, no slow response, no script that runs in a browser,
// no request to a private address, no injected instruction obeyed.
//   node bench/corpora.ts FOLDER [names of parts, default all]
// FOLDER can contain strings/*.json, redos/*.json, json/*.json, http/*.json, paths/*.json, xss/*.json, markdown/*.json,
// prompt-injection/*.json, ssrf/*.json: lists of texts, or of objects with a text (s, text, payload, markdown, url), with `parts` to
// repeat, or with base64 (b64, raw_b64). It can also contain docs/manifest.json (file, expect).
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { renderHtml } from '../src/render/render.ts'
import { openBrowser, Viewer } from '../test/support/browser.ts'
import type { Answer } from '../test/support/client.ts'
import { says } from '../test/support/model-server.ts'
import { startService } from '../test/support/service.ts'

type Item = string | Record<string, unknown>
const [folder, ...wanted] = process.argv.slice(2)
if (folder === undefined) throw new Error('Say where the collections are: node bench/corpora.ts FOLDER')
/** A longer response counts as a hang. */
const HANG_MS = 5_000
const AT_ONCE = 8
const DOCUMENT_WITHIN_MS = 60_000

const listen = createServer((_request, response) => {
  reached++
  response.end('reached')
}).listen(0, '127.0.0.1')
let reached = 0
const service = await startService({ REPARTEE_READ_TIMEOUT_MS: '30000' })
const { client, model } = service
const agent = await service.newAgent()
const session = await service.newSession(agent)
const totals = { requests: 0, of5xx: 0, hangs: 0, slowestMs: 0 }
const problems: string[] = []

const parts: Record<string, () => Promise<object>> = {
  strings: async () => {
    let same = 0
    let refused = 0
    await each([...load('strings'), ...load('redos')], async (item) => {
      const text = textOf(item)
      const user = await service.newSession(agent, {}).catch(() => session)
      model.behaviour = says('Fine.')
      const sent = await ask(text, () => client.post(`${user}/messages`, { message: text, additionalContext: text }))
      await ask(text, () => client.post(`/agents/${agent}/search`, { query: text.slice(0, 4_000) || 'x' }))
      await ask(text, () =>
        client.get(`/agents/${agent}/sessions?limit=1&q=${encodeURIComponent(text.toWellFormed().slice(0, 500))}`),
      )
      if (sent.status !== 200) return void refused++
      if (sent.body.userMessage.content === text) same++
      else problems.push(`changed: ${JSON.stringify(text).slice(0, 80)}`)
    })
    return { same, refused }
  },
  json: async () => {
    const wrong: string[] = []
    await each(load('json'), async (item) => {
      const { name, expect } = item as { name: string; expect: string }
      const { status } = await ask(name, () => client.request('POST', '/agents', { bytes: bytesOf(item) }))
      // Valid JSON that is no agent also gets a 400. Only invalid JSON must always be rejected.
      if (expect === 'reject' && status < 400) wrong.push(name)
    })
    return { takenThoughNoJson: wrong }
  },
  http: async () => {
    const { host } = new URL(client.address.baseUrl)
    const held: string[] = []
    const statuses: Record<string, number> = {}
    for (const item of load('http')) {
      const { name } = item as { name: string }
      const raw = bytesOf(item).toString('latin1').replaceAll('{HOST}', host).replaceAll('{KEY}', client.key)
      const filled = raw
        .replaceAll('{AGENT}', agent)
        .replaceAll('{SESSION}', session.split('/').at(-1)!)
        .replace(' /agents', ' /v1/agents')
      totals.requests++
      const text = await client.raw(Buffer.from(filled, 'latin1'), 35_000).catch((error: Error) => {
        if (/left open/.test(error.message)) held.push(name)
        return ''
      })
      const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 'closed'
      statuses[status] = (statuses[status] ?? 0) + 1
      if (/^HTTP\/1\.1 5/.test(text)) totals.of5xx++
    }
    return { statuses, keptOpenAfterAnswer: held }
  },
  paths: async () => {
    const found: string[] = []
    await each(load('paths'), async (item) => {
      const text = textOf(item)
      for (const path of [text, `/agents/${text}`, `/agents/${agent}/documents/${text}`]) {
        const clean = path.replace(/[^\x21-\x7e]/g, (c) => encodeURIComponent(c))
        const answer = await ask(path, () => client.get(clean.startsWith('/') ? clean : `/${clean}`))
        if (answer.status === 200 && /root:|\[fonts\]/.test(answer.text)) found.push(path)
      }
      const form = new FormData()
      form.set('file', new Blob([`About ${text.slice(0, 20)}`]), text)
      await ask(text, () => upload(agent, form))
    })
    return { filesShown: found }
  },
  xss: async () => {
    const texts = [...load('xss'), ...load('prompt-injection')].map(textOf)
    const browser = await openBrowser()
    const viewers = await Promise.all([1, 2].map(() => Viewer.open(browser)))
    const seen = { looked: 0, acted: 0, loaded: 0, active: 0 }
    model.behaviour = says(({ messages }) => texts[Number(/REPLY (\d+)/.exec(messages.at(-1)!.content)![1])]! || '-')
    let next = 0
    await Promise.all(
      viewers.map(async (viewer) => {
        const own = await service.newSession(agent)
        for (let i = next++; i < texts.length; i = next++) {
          const answer = await ask(texts[i]!, () => client.post(`${own}/messages`, { message: `REPLY ${i}`, format: 'html' }))
          if (answer.status !== 200) continue
          const { acted, loaded, active } = await viewer.look(answer.body.aiMessage.content)
          seen.looked++
          for (const [what, list] of Object.entries({ acted, loaded, active })) {
            if (list.length > 0) problems.push(`${what}: ${list[0]} from ${JSON.stringify(texts[i]).slice(0, 80)}`)
            seen[what as 'acted'] += Math.min(1, list.length)
          }
        }
      }),
    )
    await browser.close()
    return seen
  },
  markdown: async () => {
    let slowestMs = 0
    const items = load('markdown')
    for (const item of items) {
      const text = textOf(item)
      const begin = performance.now()
      await renderHtml(text, [])
      slowestMs = Math.max(slowestMs, performance.now() - begin)
    }
    return { rendered: items.length, slowestRenderMs: Math.round(slowestMs) }
  },
  'prompt-injection': async () => {
    const fact = 'The Aurora lamp has a warranty of two years.'
    let answered = 0
    let quoted = 0
    const items = load('prompt-injection').map(textOf)
    await each(items, async (attack) => {
      const own = await service.newAgent({ model: 'extractive' })
      const text = `Notes about the Aurora lamp.\n\n${textOf(attack)}`
      for (const document of [
        { title: 'Lamps', text: fact },
        { title: 'Notes', text },
      ])
        await until(own, (await ask(text, () => client.post(`/agents/${own}/documents`, document))).body.document.id)
      const path = await service.newSession(own)
      const answer = await ask(text, () =>
        client.post(`${path}/messages`, { message: 'How long is the warranty of the Aurora lamp?' }),
      )
      const reply = String(answer.body?.aiMessage?.content)
      if (reply.includes('two years')) answered++
      if (reply.includes(textOf(attack).slice(0, 60))) quoted++
      await client.delete(`/agents/${own}`)
    })
    return { attacks: items.length, answeredFromTheFact: answered, quotedTheAttack: quoted }
  },
  ssrf: async () => {
    const { port } = listen.address() as AddressInfo
    const outcomes: Record<string, number> = {}
    await each(
      load('ssrf').filter((item) => typeof item === 'object' && 'url' in item),
      async (item) => {
        const url = textOf(item).replaceAll('{canary}', String(port)).replaceAll('{port}', String(port))
        const answer = await ask(url, () => client.post(`/agents/${agent}/documents`, { url }))
        const outcome = answer.status === 202 ? (await until(agent, answer.body.document.id)).status : String(answer.status)
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      },
    )
    return { outcomes, reachedAPrivateAddress: reached }
  },
  docs: async () => {
    const manifest = join(folder, 'docs/manifest.json')
    if (!existsSync(manifest)) return {}
    const files = JSON.parse(readFileSync(manifest, 'utf8')) as { file: string; expect: string }[]
    const outcomes: Record<string, number> = {}
    await each(files, async (item) => {
      const { file, expect } = item as unknown as { file: string; expect: string }
      const form = new FormData()
      form.set('file', new Blob([readFileSync(join(folder, 'docs', file))]), basename(file))
      const answer = await ask(file, () => upload(agent, form))
      const document = answer.status === 202 ? await until(agent, answer.body.document.id) : undefined
      const outcome = document?.status ?? String(answer.status)
      outcomes[`${expect} -> ${outcome}`] = (outcomes[`${expect} -> ${outcome}`] ?? 0) + 1
      if (expect === 'text' && outcome !== 'ready') problems.push(`not read: ${file}: ${document?.error?.code}`)
      if (expect === 'reject-or-empty' && outcome === 'ready' && document!.passageCount > 2) problems.push(`read: ${file}`)
    })
    return outcomes
  },
}

for (const [name, run] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const before = { ...totals }
  const found = await run()
  const { requests, of5xx, hangs } = totals
  report({ part: name, requests: requests - before.requests, of5xx: of5xx - before.of5xx, hangs: hangs - before.hangs, ...found })
}
report({ part: 'all', ...totals, slowestMs: Math.round(totals.slowestMs), privateAddressesReached: reached, problems })
await service.stop()
listen.closeAllConnections()
listen.close()
process.exitCode = totals.of5xx + totals.hangs + reached + problems.length > 0 ? 1 : 0

function load(part: string): Item[] {
  const path = join(folder!, part)
  if (!existsSync(path)) return []
  return readdirSync(path).flatMap((name) => {
    const value = JSON.parse(readFileSync(join(path, name), 'utf8')) as Item[] | Record<string, Item[]>
    return Array.isArray(value) ? value : Object.values(value).flat()
  })
}

function textOf(item: Item): string {
  if (typeof item === 'string') return item
  const { parts: pieces } = item
  if (Array.isArray(pieces)) return (pieces as [string, number][]).map(([text, times]) => text.repeat(times)).join('')
  return String(item.s ?? item.text ?? item.payload ?? item.markdown ?? item.url ?? '')
}

function bytesOf(item: Item): Buffer {
  const { b64, raw_b64: raw, repeat } = item as { b64?: string; raw_b64?: string; repeat?: { text: string; times: number } }
  return repeat === undefined ? Buffer.from(b64 ?? raw ?? '', 'base64') : Buffer.from(repeat.text.repeat(repeat.times))
}

async function each(items: Item[], act: (item: Item) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let i = next++; i < items.length; i = next++) await act(items[i]!)
    }),
  )
}

/** Sends a request and records its result. A request without a response counts as a 400 for the callers. */
async function ask(about: string, send: () => Promise<Answer>): Promise<Answer> {
  const begin = performance.now()
  totals.requests++
  const answer = await send().catch((error: NodeJS.ErrnoException): Answer => {
    // Requests that Node's own client refuses to send do not count.
    if (!/^ERR_|EINVAL/.test(error.code ?? '')) problems.push(`no answer (${error.code}): ${about.slice(0, 60)}`)
    return { status: 400, headers: {}, rawHeaders: [], text: '', body: undefined }
  })
  const ms = performance.now() - begin
  totals.slowestMs = Math.max(totals.slowestMs, ms)
  if (ms > HANG_MS) totals.hangs++
  if (answer.status >= 500) {
    totals.of5xx++
    problems.push(`${answer.status}: ${JSON.stringify(about).slice(0, 80)}`)
  }
  return answer
}

async function upload(agentId: string, form: FormData): Promise<Answer> {
  const response = await fetch(`${client.address.baseUrl}/agents/${agentId}/documents`, {
    method: 'POST',
    headers: { 'x-api-key': client.key },
    body: form,
  })
  const text = await response.text()
  return { status: response.status, headers: {}, rawHeaders: [], text, body: JSON.parse(text) }
}

type Document = { status: string; passageCount: number; error: { code: string } | null }

async function until(agentId: string, documentId: string): Promise<Document> {
  const end = performance.now() + DOCUMENT_WITHIN_MS * AT_ONCE
  for (;;) {
    const { document } = (await client.get(`/agents/${agentId}/documents/${documentId}`)).body as { document: Document }
    if (document.status === 'ready' || document.status === 'failed') return document
    if (performance.now() > end) {
      totals.hangs++
      return document
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function report(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
