import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { listen } from './cleanup.ts'
import { type Format, formatOf, type Message, type Said } from './model-formats.ts'

/** What the service asked of the model. */
export interface ModelCall {
  path: string
  headers: IncomingHttpHeaders
  /** As it came; `messages` is there in the formats that have it. */
  body: { model: string; messages: Message[]; [field: string]: unknown }
  /** All that it says to the model, whatever its format. */
  messages: Message[]
  /** The reply is to be a stream. */
  streams: boolean
  format: Format
}

export type Behaviour = (call: ModelCall, response: ServerResponse) => unknown

/** Answers with a text, or with one made from the request. */
export const says =
  (text: string | ((call: ModelCall) => string)): Behaviour =>
  (call, response) =>
    finishes(typeof text === 'string' ? text : text(call), 'stop')(call, response)
/** Answers with a text that ended for this reason. */
export const finishes =
  (text: string, reason: Said['reason']): Behaviour =>
  (call, response) =>
    begin(call, response).end(bodyOf(call, text, reason))
/** Answers piece by piece, each when its gate is open where there is one; all at once where no stream is asked for. */
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
/** Answers in writes of a few bytes, that end wherever they happen to end. */
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
/** Answers only after signs of life that hold no text. */
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
/** Answers 200 with these bytes, whatever they are. */
export const sends =
  (bytes: string, mediaType = 'application/json'): Behaviour =>
  (_call, response) =>
    response.writeHead(200, { 'content-type': mediaType }).end(bytes)
/** Refuses as providers do; the message of the refusal must not reach a caller. */
export const refuses =
  (status: number, headers: OutgoingHttpHeaders = {}): Behaviour =>
  (_call, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ error: { message: WORDS, type: 'provider_error' } }))
/** Takes the request and never answers. */
export const hangs: Behaviour = () => {}
/** Breaks the connection off in the middle of an answer. */
export const cuts: Behaviour = (call, response) =>
  begin(call, response).write(firstHalf(call, 'half of a'), () => response.socket?.destroy())
/** Says something, and then nothing for ever. */
export const stalls =
  (text: string): Behaviour =>
  (call, response) =>
    begin(call, response).write(firstHalf(call, text))
/** Ends an answer as if it were whole, before its end. */
export const endsEarly =
  (text: string): Behaviour =>
  (call, response) =>
    begin(call, response).end(firstHalf(call, text))
/** Says something, and then what nobody can read. */
export const garbage =
  (text: string): Behaviour =>
  (call, response) =>
    begin(call, response).end(
      firstHalf(call, text) + (call.streams ? call.format.garbage + call.format.end(toSaid(call, text)) : '<html>'),
    )
/** Says something, and then that it failed; the end comes all the same. */
export const fails =
  (text: string): Behaviour =>
  (call, response) =>
    begin(call, response).end(
      call.streams
        ? firstHalf(call, text) + call.format.failure(WORDS) + call.format.end(toSaid(call, text))
        : `{"error":{"message":"${WORDS}"}}`,
    )
/** Says something, then that it failed, and keeps the line open. Only as a stream. */
export const failsOpen =
  (text: string): Behaviour =>
  (call, response) =>
    begin(call, response).write(firstHalf(call, text) + call.format.failure(WORDS))
/** Says more than anybody can want to read. */
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

/** A model provider on a real socket that speaks the formats of all vendors and does as the test says. */
export class ModelServer {
  readonly calls: ModelCall[] = []
  /** What it does with each request from now on. */
  behaviour: Behaviour = says('A reply.')
  /** What it answers to a GET, by path; 404 elsewhere. */
  lists: Record<string, object> = {}
  /** Calls whose caller went away before the answer had ended. */
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

  /** Resolves to the address for `OPENAI_BASE_URL`. */
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

  /** From now on requests wait until the function that this returns is called; then they are answered in this way. */
  hold(then: Behaviour = says('A reply.')): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.behaviour = async (call, response) => {
      await promise
      await then(call, response)
    }
    return resolve
  }

  /** Resolves when so many requests have arrived since the last reset. */
  async received(count: number): Promise<void> {
    while (this.calls.length < count) await this.#changed.promise
  }

  /** Resolves when so many callers have gone away since the last reset. */
  async abandoned(count: number): Promise<void> {
    while (this.left < count) await this.#changed.promise
  }

  /** The newest request's messages. */
  get lastPrompt(): Message[] {
    return this.calls.at(-1)?.messages ?? []
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
