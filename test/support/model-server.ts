import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { listen } from './cleanup.ts'
import { type Format, formatOf, type Message, type Said } from './model-formats.ts'

/** A request of the service to the model. */
export interface ModelCall {
  path: string
  headers: IncomingHttpHeaders
  /** The raw body. `messages` is present only in formats that use this name. */
  body: { model: string; messages: Message[]; [field: string]: unknown }
  /** All messages of the request, in any format. */
  messages: Message[]
  /** Whether the reply is a stream. */
  streams: boolean
  format: Format
}

export type Behaviour = (call: ModelCall, response: ServerResponse) => unknown

/** Responds with a text, or with a text made from the request. */
export const says =
  (text: string | ((call: ModelCall) => string)): Behaviour =>
  (call, response) =>
    finishes(typeof text === 'string' ? text : text(call), 'stop')(call, response)
/** Responds with a text that ended for this reason. */
export const finishes =
  (text: string, reason: Said['reason']): Behaviour =>
  (call, response) =>
    begin(call, response).end(bodyOf(call, text, reason))
/** Streams pieces, each after its gate if there is one. Responds at once if no stream was requested. */
export const streams =
  (pieces: string[], { everyMs = 1, gates = [] }: { everyMs?: number; gates?: Promise<void>[] } = {}): Behaviour =>
  async (call, response) => {
    const said = toSaid(call, pieces.join(''))
    begin(call, response)
    if (!call.streams) return response.end(JSON.stringify(call.format.whole(said)))
    response.write(call.format.begin(said))
    for (const [i, text] of pieces.entries()) {
      await gates[i]
      response.write(call.format.piece(said, text))
      await pause(everyMs)
    }
    response.end(call.format.end(said))
  }
/** Responds in writes of a few bytes, which can end anywhere. */
export const drips =
  (text: string, bytes = 5): Behaviour =>
  async (call, response) => {
    const all = Buffer.from(bodyOf(call, text))
    begin(call, response)
    for (let at = 0; at < all.length; at += bytes) {
      response.write(all.subarray(at, at + bytes))
      await nextTurn()
    }
    response.end()
  }
/** Sends keep-alives without text before the response. */
export const thinks =
  (text: string): Behaviour =>
  async (call, response) => {
    const { format } = call
    const said = toSaid(call, text)
    begin(call, response)
    if (call.streams) {
      for (const sign of [format.begin(said), format.alive, format.thought(said), format.alive]) {
        if (sign !== '') response.write(sign)
        await pause(5)
      }
      return response.end(format.piece(said, text) + format.end(said))
    }
    response.end(JSON.stringify(format.whole(said)))
  }
/** Responds 200 with any bytes. */
export const sends =
  (bytes: string, mediaType = 'application/json'): Behaviour =>
  (_call, response) =>
    response.writeHead(200, { 'content-type': mediaType }).end(bytes)
/** Rejects requests as providers do. The rejection's message must not reach a caller. */
export const refuses =
  (status: number, headers: OutgoingHttpHeaders = {}): Behaviour =>
  (_call, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ error: { message: WORDS, type: 'provider_error' } }))
/** Accepts the request and never responds. */
export const hangs: Behaviour = () => {}
/** Breaks the connection in the middle of a response. */
export const cuts: Behaviour = (call, response) =>
  begin(call, response).write(firstHalf(call, 'half of a'), () => response.socket?.destroy())
/** Sends some text, then nothing. */
export const stalls =
  (text: string): Behaviour =>
  (call, response) =>
    begin(call, response).write(firstHalf(call, text))
/** Ends a partial response as if it were complete. */
export const endsEarly =
  (text: string): Behaviour =>
  (call, response) =>
    begin(call, response).end(firstHalf(call, text))
/** Sends some text, then unreadable bytes. */
export const garbage =
  (text: string): Behaviour =>
  (call, response) =>
    begin(call, response).end(
      firstHalf(call, text) + (call.streams ? call.format.garbage + call.format.end(toSaid(call, text)) : '<html>'),
    )
/** Sends some text, then an error, and still ends the stream properly. */
export const fails =
  (text: string): Behaviour =>
  (call, response) =>
    begin(call, response).end(
      call.streams
        ? firstHalf(call, text) + call.format.failure(WORDS) + call.format.end(toSaid(call, text))
        : `{"error":{"message":"${WORDS}"}}`,
    )
/** Sends some text, then an error, and leaves the connection open. Only as a stream. */
export const failsOpen =
  (text: string): Behaviour =>
  (call, response) =>
    begin(call, response).write(firstHalf(call, text) + call.format.failure(WORDS))
/** Sends an endless response. */
export const floods: Behaviour = async (call, response) => {
  begin(call, response)
  const said = toSaid(call, '')
  response.write(call.streams ? call.format.begin(said) : '{"a":"')
  const piece = call.streams ? call.format.piece(said, 'x'.repeat(60_000)) : 'x'.repeat(60_000)
  while (!response.destroyed) if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')])
}

const WORDS = 'the-words-of-the-provider'

const toSaid = ({ body }: ModelCall, text: string, reason: Said['reason'] = 'stop'): Said => {
  const [tool] = (body['tools'] ?? []) as { name: string }[]
  return { model: body.model, text, reason, ...(tool === undefined ? {} : { tool: tool.name }) }
}

const begin = ({ streams, format }: ModelCall, response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': streams ? format.mediaType : 'application/json' })

function bodyOf(call: ModelCall, text: string, reason?: Said['reason']): string {
  const { format } = call
  const said = toSaid(call, text, reason)
  if (!call.streams) return JSON.stringify(format.whole(said))
  const pieces = text.match(/\S+\s*|\s+/gu) ?? []
  return format.begin(said) + pieces.map((piece) => format.piece(said, piece)).join('') + format.end(said)
}

function firstHalf(call: ModelCall, text: string): string {
  const { format } = call
  const said = toSaid(call, text)
  if (call.streams) return format.begin(said) + format.piece(said, text)
  const whole = JSON.stringify(format.whole(said))
  return whole.slice(0, whole.length / 2)
}

/** A model provider on a real socket. It supports the formats of all vendors and behaves as the test requires. */
export class ModelServer {
  readonly calls: ModelCall[] = []
  /** The behaviour for further requests. */
  behaviour: Behaviour = says('A reply.')
  /** Responses to GET by path. Other paths get 404. */
  lists: Record<string, object> = {}
  /** Number of calls whose caller disconnected before the response ended. */
  left = 0
  readonly #server: Server
  #changed = Promise.withResolvers<void>()

  constructor() {
    this.#server = createServer(async (request, response) => {
      const { url = '', headers } = request
      if (request.method === 'GET') {
        const list = this.lists[url.split('?', 1)[0]!]
        response.writeHead(list === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(list ?? {}))
        return
      }
      response.on('close', () => {
        if (!response.writableEnded) this.left++
        this.#change()
      })
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ModelCall['body']
      const format = formatOf(request)
      const call = { path: url, headers, body, messages: format.messages(body), streams: format.isStream(body, url), format }
      this.calls.push(call)
      this.#change()
      await this.behaviour(call, response)
    })
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }

  /** Resolves to the URL for `OPENAI_BASE_URL`. */
  async listen(): Promise<string> {
    if (!this.#server.listening) {
      await listen(this.#server)
    }
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  reset(): void {
    this.calls.length = 0
    this.left = 0
    this.behaviour = says('A reply.')
  }

  /** Delays further requests until the returned function is called. They then get this behaviour. */
  hold(then: Behaviour = says('A reply.')): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.behaviour = async (call, response) => {
      await promise
      await then(call, response)
    }
    return resolve
  }

  /** Resolves when this many requests have arrived since the last reset. */
  async received(count: number): Promise<void> {
    while (this.calls.length < count) await this.#changed.promise
  }

  /** Resolves when this many callers have disconnected since the last reset. */
  async abandoned(count: number): Promise<void> {
    while (this.left < count) await this.#changed.promise
  }

  get lastPrompt(): Message[] {
    return this.calls.at(-1)?.messages ?? []
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
