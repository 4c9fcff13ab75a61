// Sends texts of many shapes, as long as the limits allow, through every text input, and reports which block a thread.
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer } from './client.ts'
import type { Schema } from './made-from-schema.ts'
import { says } from './model-server.ts'
import { type Service, startService } from './service.ts'

/** The longest text that fits into a body with its other content. */
const MAX_BODY_CHARS = 1_000_000
const MAX_REPLY_CHARS = 199_000
const MAX_KEY_CHARS = 100
const QUICK_BASE = 400
const MAX_MESSAGE_CHARS = 32_000
/** The maximum that one import accepts of these messages. */
const MESSAGES = 20

interface Operation {
  requestBody?: { content: Record<string, { schema: Schema }> }
  parameters?: { name: string; in: string; schema: Schema }[]
}

/** A text input of the service. */
export interface Way {
  name: string
  maxChars: number
  send(text: string): Promise<Answer>
}

/** The result of sending a text. */
export interface Look {
  status: number
  /** By thread: the longest uninterrupted stall in milliseconds of processor time. Less than 20 is not reported. */
  busy: Map<string, number>
}

/** A body that is too large can be rejected, and its connection closed, while it is still being sent. */
function refusedEarly(error: NodeJS.ErrnoException): Pick<Answer, 'status'> {
  if (error.code === 'EPIPE' || error.code === 'ECONNRESET') return { status: 413 }
  throw error
}

/** Placeholder for the text. */
const HERE = 'text-goes-here'

export class StallScan {
  readonly service: Service
  readonly #log: string
  #read = 0

  private constructor(service: Service, log: string) {
    this.service = service
    this.#log = log
  }

  static async start(): Promise<StallScan> {
    const log = join(tmpdir(), `stalls-${randomUUID()}`)
    writeFileSync(log, '')
    const monitor = new URL('stall-monitor.ts', import.meta.url)
    const service = await startService({ NODE_OPTIONS: `--import=${monitor}`, STALL_LOG: log, REPARTEE_ALLOW_PRIVATE_URLS: 'on' })
    return new StallScan(service, log)
  }

  /** Sends a text through an input. */
  async look(way: Way, text: string): Promise<Look> {
    this.#news()
    const { status } = await way.send(text).catch(refusedEarly)
    // The monitor checks every millisecond.
    await pause(3)
    const busy = new Map<string, number>()
    for (const [thread, ms] of this.#news()) busy.set(thread, Math.max(ms, busy.get(thread) ?? 0))
    return { status, busy }
  }

  #news(): [thread: string, ms: number][] {
    const written = readFileSync(this.#log, 'utf8')
    const lines = written.slice(this.#read).split('\n').filter(Boolean)
    this.#read = written.length
    return lines.map((line) => {
      const [thread = '', ms] = line.split(' ')
      return [thread, Number(ms)]
    })
  }

  /** Returns every text input of the contract, and the replies of models. */
  async ways(): Promise<Way[]> {
    const { client } = this.service
    const words = 'lamp warranty kettle litre garden window paper bridge summer harbour'.split(' ')
    const entry = (i: number) =>
      `## Part ${i}\n\nThe ${words[i % 10]} number ${i} holds ${words[(i * 7) % 10]} and lasts ${i % 9} years.`
    const agent = await this.service.newAgent({ name: 'Quick', model: 'extractive' })
    const { body } = await client.post(`/agents/${agent}/documents`, {
      markdown: Array.from({ length: QUICK_BASE }, (_, i) => entry(i)).join('\n\n'),
    })
    const document = body.document.id
    for (;;) {
      if ((await client.get(`/agents/${agent}/documents/${document}`)).body.document.status === 'ready') break
      await pause(50)
    }
    const { session } = (await client.post(`/agents/${agent}/sessions`, {})).body
    const sent = (
      await client.post(`/agents/${agent}/sessions/${session.id}/messages`, { message: 'How long does the lamp last?' })
    ).body
    const ids: Record<string, string> = {
      agentId: agent,
      sessionId: session.id,
      messageId: sent.aiMessage.id,
      documentId: document,
    }
    return [
      ...(await this.#waysOfContract(ids)),
      ...this.#waysOfTurns(agent),
      ...this.#waysOfHistory(agent),
      ...this.#waysOfTwo(agent),
      ...this.#waysOfRequests(),
    ]
  }

  async #waysOfContract(ids: Record<string, string>): Promise<Way[]> {
    const { client } = this.service
    const contract = (await client.get('^/openapi.json', { key: null })).body as {
      paths: Record<string, Record<string, Operation>>
    }
    const ways: Way[] = []
    for (const [path, operations] of Object.entries(contract.paths))
      for (const [method, { requestBody, parameters = [] }] of Object.entries(operations)) {
        const name = `${method.toUpperCase()} ${path}`
        const filled = path.replace(/^\/v1/, '').replace(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? randomUUID())
        const send = (at: string, body?: unknown, headers?: Record<string, string>) =>
          client.request(method.toUpperCase(), at, { ...(body === undefined ? {} : { body }), ...(headers && { headers }) })
        const schema = requestBody?.content['application/json']?.schema
        // A document needs a text, which its schema cannot express.
        const isDocument = /^(POST|PUT) .*\/documents(\/\{documentId\})?$/.test(name)
        const least =
          schema === undefined ? undefined : { ...(exampleOf(schema, '') as object), ...(isDocument && { text: 'a' }) }
        for (const { name: parameter, in: where, schema } of parameters) {
          if (schema.type !== 'string' || schema.enum !== undefined) continue
          const maxChars = Math.min(schema.maxLength ?? 8_000, 8_000)
          const headerText = (text: string) => text.replace(/[^\x21-\x7e]/g, '-')
          if (where === 'query')
            ways.push({
              name: `${name} ?${parameter}`,
              maxChars,
              send: (text) => send(`${filled}?${parameter}=${encodeURIComponent(text.toWellFormed()).slice(0, 8_000)}`, least),
            })
          if (where === 'header')
            ways.push({
              name: `${name} ${parameter}:`,
              maxChars,
              send: (text) => send(filled, least, { [parameter]: headerText(text) }),
            })
        }
        if (schema === undefined) continue
        for (const { at, maxChars, body } of bodiesOf(schema))
          ways.push({
            name: `${name} ${at}`,
            maxChars,
            send: (text) =>
              send(filled, {
                ...(isDocument && !/^(text|markdown|html|url)$/.test(at) && { text: 'a' }),
                ...filledIn(body, text),
              }),
          })
      }
    return ways
  }

  /** Replies of a model in each format, and long conversations. */
  #waysOfTurns(extractive: string): Way[] {
    const { client, model, newAgent } = this.service
    let agent: string | undefined
    const talking = async () =>
      (agent ??= await newAgent({ name: 'Talking', model: 'openai/stub', followUps: { enabled: true }, autoName: true }))
    const documented = this.#documented()
    const turn = (
      name: string,
      send: (agent: string, session: string) => Promise<Answer>,
      of: () => Promise<string> = talking,
    ): Way => ({
      name,
      maxChars: MAX_REPLY_CHARS,
      send: async (text) => {
        const agentId = await of()
        model.behaviour = says(text)
        const { session } = (await client.post(`/agents/${agentId}/sessions`, {})).body
        return send(agentId, session.id)
      },
    })
    const message = 'How long does the lamp last?'
    const events = { headers: { accept: 'text/event-stream' } }
    const talk = (agentId: string, id: string) => `/agents/${agentId}/sessions/${id}/messages`
    const completion = (stream: boolean) => (agentId: string, id: string) =>
      client.post('^/openai/v1/chat/completions', {
        model: agentId,
        stream,
        metadata: { session_id: id },
        messages: [{ role: 'user', content: message }],
      })
    return [
      turn('reply', (a, s) => client.post(talk(a, s), { message })),
      turn('reply with sources', (a, s) => client.post(talk(a, s), { message, include: ['sources', 'trace'] }), documented),
      turn('reply as HTML', (a, s) => client.post(talk(a, s), { message, format: 'html' }), documented),
      turn('reply as events', (a, s) => client.post(talk(a, s), { message }, events), documented),
      turn('reply, and the turn after it', async (a, s) => {
        await client.post(talk(a, s), { message })
        model.behaviour = says('Yes.')
        return client.post(talk(a, s), { message: 'And the kettle?' })
      }),
      turn('/openai reply', completion(false), documented),
      turn('/openai reply as events', completion(true), documented),
      turn('/openai response', (a) => client.post('^/openai/v1/responses', { model: a, input: message }), documented),
      turn(
        '/ai-sdk reply',
        (a, s) =>
          client.post(`^/ai-sdk/v1/agents/${a}/chat`, {
            id: s,
            messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: message }] }],
          }),
        documented,
      ),
      {
        name: '/openai message',
        maxChars: 32_000,
        send: (text) =>
          client.post('^/openai/v1/chat/completions', { model: extractive, messages: [{ role: 'user', content: text }] }),
      },
      {
        name: '/openai system message',
        maxChars: 100_000,
        send: async (text) => {
          model.behaviour = says('Yes.')
          const messages = [
            { role: 'system', content: text },
            { role: 'user', content: message },
          ]
          return client.post('^/openai/v1/chat/completions', { model: await talking(), messages })
        },
      },
      {
        name: '/mcp question',
        maxChars: 32_000,
        send: (text) =>
          client.post(
            '^/mcp',
            {
              jsonrpc: '2.0',
              id: 1,
              method: 'tools/call',
              params: { name: 'ask', arguments: { question: text, agent: extractive } },
            },
            { headers: { accept: 'application/json, text/event-stream' } },
          ),
      },
    ]
  }

  /** Stored texts that are read later: many messages, scanned as a whole. */
  #waysOfHistory(agent: string): Way[] {
    const { client } = this.service
    const many = (name: string, read: (user: string) => Promise<Answer>): Way => ({
      name,
      maxChars: MAX_MESSAGE_CHARS,
      send: async (text) => {
        const user = randomUUID()
        const messages = Array.from({ length: MESSAGES / 2 }, (_, i) => [
          { role: 'USER', content: `${i} ${text}`.slice(0, MAX_MESSAGE_CHARS) },
          { role: 'AI', content: text },
        ]).flat()
        const imported = await client.post(`/agents/${agent}/sessions/import`, { externalUserId: user, messages })
        return imported.status === 201 ? read(user) : imported
      },
    })
    return [
      many('a history, searched', (user) =>
        client.get(`/agents/${agent}/sessions?externalUserId=${user}&q=${'nothing+of+the+kind+is+in+this+one'}`),
      ),
      many('a history, handed over', (user) => client.get(`/agents/${agent}/users/${user}/export`)),
      many('a history, in insights', () => client.get(`/agents/${agent}/insights`)),
    ]
  }

  /** The same text in two positions, whose costs could multiply. */
  #waysOfTwo(extractive: string): Way[] {
    const { client, model } = this.service
    const question = (text: string) => text.slice(0, MAX_MESSAGE_CHARS)
    const ask = (messages: { role: string; content: string }[]) =>
      client.post('^/openai/v1/chat/completions', { model: extractive, messages })
    const documented = this.#documented()
    const withDocument = async (agent: string, text: string, send: () => Promise<Answer>) => {
      const { body, status } = await client.post(`/agents/${agent}/documents`, { text })
      if (status >= 400) return { status } as Answer
      const at = `/agents/${agent}/documents/${body.document.id}`
      while (/pending|processing/.test((await client.get(at)).body.document.status)) await pause(20)
      const answer = await send()
      await client.delete(at)
      return answer
    }
    return [
      {
        name: 'a question in a conversation of one role',
        maxChars: MAX_MESSAGE_CHARS,
        send: (text) => ask(Array.from({ length: MESSAGES }, () => ({ role: 'user', content: text.slice(0, 4_000) }))),
      },
      {
        name: 'a question behind long exchanges',
        maxChars: MAX_MESSAGE_CHARS,
        send: (text) =>
          ask([
            ...Array.from({ length: 4 }, () => [
              { role: 'user', content: question(text) },
              { role: 'assistant', content: text },
            ]).flat(),
            { role: 'user', content: 'And what about it?' },
          ]),
      },
      {
        name: 'a document, asked with its own text',
        maxChars: 200_000,
        send: (text) => withDocument(extractive, text, () => ask([{ role: 'user', content: question(text) }])),
      },
      {
        name: 'a reply that repeats its document',
        maxChars: MAX_REPLY_CHARS,
        send: async (text) => {
          const agent = await documented()
          model.behaviour = says(text)
          return withDocument(agent, text, () =>
            client.post('^/openai/v1/chat/completions', {
              model: agent,
              messages: [{ role: 'user', content: question(text) }],
            }),
          )
        },
      },
    ]
  }

  /** Parts of a request before its body. */
  #waysOfRequests(): Way[] {
    const { client } = this.service
    const maxChars = 8_000
    const path = (text: string) => encodeURIComponent(text.toWellFormed()).slice(0, maxChars)
    const key = async (text: string) => client.get('/agents', { key: text.replace(/[^\x21-\x7e]/g, '-') })
    return [
      { name: 'a path', maxChars, send: (text) => client.get(`/${path(text)}`) },
      { name: 'a path of many parts', maxChars, send: (text) => client.get(`/${path(text).replaceAll('%', '/')}`) },
      { name: 'a query', maxChars, send: (text) => client.get(`/agents?${path(text)}`) },
      { name: 'a key', maxChars, send: key },
    ]
  }

  /** Returns an agent with a model and documents, whose replies are checked. Its documents give as many sources as a reply can name. */
  #documented(): () => Promise<string> {
    const { client, newAgent } = this.service
    let agent: Promise<string> | undefined
    return () =>
      (agent ??= (async () => {
        const id = await newAgent({ name: 'Documented', model: 'openai/stub' })
        const part = (_: unknown, i: number) =>
          `## Lamp ${i}\n\n${`How long does the lamp last? Lamp ${i} lasts ${i + 1} years and its kettle holds ${i + 2} litres. `.repeat(18)}`
        const { body } = await client.post(`/agents/${id}/documents`, { markdown: Array.from({ length: 12 }, part).join('\n\n') })
        while ((await client.get(`/agents/${id}/documents/${body.document.id}`)).body.document.status !== 'ready') await pause(50)
        return id
      })())
  }
}

/** Returns a minimal valid value of a schema. */
function exampleOf(schema: Schema, name: string): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0]!, name)
  switch (schema.type) {
    case 'null':
      return null
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => exampleOf(schema.items ?? {}, name))
    case 'object':
      return Object.fromEntries((schema.required ?? []).map((field) => [field, exampleOf(schema.properties![field]!, field)]))
    default:
      if (schema.format === 'uuid') return randomUUID()
      if (schema.format === 'date-time') return new Date().toISOString()
      return name === 'model' ? 'extractive' : name === 'url' ? 'http://127.0.0.1:9/' : 'a'
  }
}

interface Body {
  at: string
  maxChars: number
  body: unknown
}

/** Returns one body for each text field, with `HERE` in its position. */
function bodiesOf(schema: Schema): Body[] {
  const fixed = (body: unknown) => body
  return textsOf(schema, '', fixed)
}

function textsOf(schema: Schema, at: string, around: (value: unknown) => unknown, name = ''): Body[] {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((one) => textsOf(one, at, around, name))
  if (schema.type === 'array') return textsOf(schema.items ?? {}, `${at}[]`, (value) => around([value]), name)
  if (schema.type === 'object') {
    const least = exampleOf({ ...schema, required: schema.required ?? [] }, '') as object
    const fields = Object.entries(schema.properties ?? {}).flatMap(([field, inner]) =>
      textsOf(inner, at === '' ? field : `${at}.${field}`, (value) => around({ ...least, [field]: value }), field),
    )
    const [open] = Object.values(schema.patternProperties ?? {})
    if (open === undefined) return fields
    return [
      ...fields,
      { at: `${at}.key`, maxChars: MAX_KEY_CHARS, body: around({ [HERE]: 'a' }) },
      ...textsOf(open, `${at}.value`, (value) => around({ ...least, a: value })),
    ]
  }
  if (schema.type !== 'string' || schema.enum !== undefined || schema.const !== undefined) return []
  return [{ at, maxChars: Math.min(schema.maxLength ?? MAX_BODY_CHARS, MAX_BODY_CHARS), body: around(HERE) }]
}

const filledIn = (body: unknown, text: string): object => replaced(body, text) as object

function replaced(body: unknown, text: string): unknown {
  if (body === HERE) return text
  if (Array.isArray(body)) return body.map((item) => replaced(item, text))
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name === HERE ? text : name, replaced(value, text)]))
}
