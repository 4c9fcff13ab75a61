// The baseline of the figures: the service's main work written directly on node:http and node:sqlite or pg, without checks, keys, limits,
// documents, rendering or logs. Its cost is the machine's share; the rest of the service's cost is its own.
//   node bench/floor.ts --model URL (--file PATH | --database URL)
import { randomUUID } from 'node:crypto'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { type Known, openPostgresFloor, openSqliteFloor, type Said } from './floor-store.ts'

/** Number of earlier messages sent to the model with the new one. */
const WINDOW = 20

const { values } = parseArgs({ options: { model: { type: 'string' }, file: { type: 'string' }, database: { type: 'string' } } })
const store = values.database === undefined ? openSqliteFloor(values.file!) : await openPostgresFloor(values.database)
const model = new URL(`${values.model}/chat/completions`)
const agent = new Agent({ keepAlive: true, maxSockets: 256 })

const server = createServer((asked, response) => {
  answer(asked, response).catch((error: Error) => {
    if (response.headersSent) response.destroy()
    else send(response, 500, { success: false, error: error.message })
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`))

/** Handles `/v1/agents/{agent}/sessions[/{session}/messages]` and `/healthz`. */
async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path, query] = asked.url!.split('?')
  if (path === '/healthz') return send(response, 200, { success: true })
  const [, , , agentId, , sessionId] = path!.split('/')
  const body = asked.method === 'POST' ? JSON.parse(await textOf(asked)) : undefined
  if (sessionId === undefined) return body === undefined ? list(response, agentId!) : create(response, agentId!, body)
  const talk = await store.find(agentId!, sessionId)
  if (talk === undefined) return send(response, 404, { success: false })
  if (body === undefined) return history(response, talk, new URLSearchParams(query))
  return say(response, sessionId, talk, body, asked.headers.accept === 'text/event-stream')
}

async function create(response: ServerResponse, agent: string, body: { name?: string; externalUserId?: string }): Promise<void> {
  const createdAt = new Date().toISOString()
  const talk = { id: randomUUID(), agent, user: body.externalUserId ?? randomUUID(), name: body.name ?? createdAt, createdAt }
  await store.create(talk)
  const session = { id: talk.id, name: talk.name, userSessionId: talk.user, createdAt }
  send(response, 201, { success: true, session })
}

async function list(response: ServerResponse, agent: string): Promise<void> {
  const sessions = (await store.list(agent)) as { lastMessageAt: string; timeAgo?: string }[]
  const now = Date.now()
  for (const session of sessions)
    session.timeAgo = `${Math.floor((now - new Date(session.lastMessageAt).getTime()) / 60_000)} minutes ago`
  send(response, 200, { success: true, sessions })
}

async function history(response: ServerResponse, talk: Known, query: URLSearchParams): Promise<void> {
  const limit = Number(query.get('limit') ?? 50)
  const found = await store.page(talk, query.get('cursor') ?? undefined, limit + 1)
  const hasMore = found.length > limit
  const messages = (hasMore ? found.slice(0, limit) : found).map((said) => ({ ...said, type: 'TEXT' }))
  const pagination = { hasMore, nextCursor: hasMore ? messages.at(-1)!.id : null, total: talk.total }
  send(response, 200, { success: true, messages, pagination })
}

async function say(
  response: ServerResponse,
  id: string,
  talk: Known,
  body: { message: string },
  streams: boolean,
): Promise<void> {
  const userMessage = said('USER', body.message)
  const past = await store.newest(talk, WINDOW)
  const messages = past.reverse().map(({ role, content }) => ({ role: role === 'AI' ? 'assistant' : 'user', content }))
  messages.unshift({ role: 'system', content: 'You answer questions.' })
  messages.push({ role: 'user', content: body.message })
  const reply = await askModel(JSON.stringify({ model: 'short', messages, stream: streams }))
  const content = streams ? await pass(reply, response) : JSON.parse(await textOf(reply)).choices[0].message.content
  const aiMessage = said('AI', content)
  await store.append(talk, [userMessage, aiMessage])
  const whole = { success: true, chatSession: { id, name: talk.name }, userMessage, aiMessage }
  if (streams) response.end(`event: turn.completed\ndata: ${JSON.stringify(whole)}\n\n`)
  else send(response, 200, whole)
}

const said = (role: string, content: string): Said => ({ id: randomUUID(), role, content, createdAt: new Date().toISOString() })

function askModel(body: string): Promise<IncomingMessage> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), authorization: 'Bearer x' }
  return new Promise((resolve, reject) => {
    request(model, { method: 'POST', agent, headers }, resolve).on('error', reject).end(body)
  })
}

/** Forwards the model's stream as it arrives. Resolves to the whole text. */
async function pass(reply: IncomingMessage, response: ServerResponse): Promise<string> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let [content, rest] = ['', '']
  reply.setEncoding('utf8')
  for await (const part of reply) {
    const events = (rest + part).split('\n\n')
    rest = events.pop()!
    const texts = events
      .filter((event) => event.startsWith('data: {'))
      .map((event) => JSON.parse(event.slice(6)).choices[0].delta)
    const out = texts.map(({ content = '' }) => {
      const text: string = content
      return text === '' ? '' : `event: message.delta\ndata: ${JSON.stringify({ text })}\n\n`
    })
    content += texts.map((delta) => delta.content ?? '').join('')
    response.write(out.join(''))
  }
  return content
}

function textOf(message: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    message.setEncoding('utf8')
    message.on('data', (part: string) => {
      text += part
    })
    message.on('end', () => resolve(text))
    message.on('error', reject)
  })
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}
