import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the service asked of the model. */
export interface ModelCall {
  path: string
  headers: IncomingHttpHeaders
  body: { model: string; messages: { role: string; content: string }[]; [field: string]: unknown }
}

export type Behaviour = (call: ModelCall, response: ServerResponse) => unknown

const USAGE = { prompt_tokens: 21, completion_tokens: 7, total_tokens: 28, prompt_tokens_details: { cached_tokens: 5 } }

/** Answers with a text, or with one made from the request. */
export const says =
  (text: string | ((call: ModelCall) => string)): Behaviour =>
  (call, response) => {
    const content = typeof text === 'string' ? text : text(call)
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
    const answer = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: call.body.model, choices, usage: USAGE }
    sends(JSON.stringify(answer))(call, response)
  }
/** Answers 200 with these bytes, whatever they are. */
export const sends =
  (bytes: string): Behaviour =>
  (_call, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(bytes)
/** Refuses as providers do; the message of the refusal must not reach a caller. */
export const refuses =
  (status: number): Behaviour =>
  (_call, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { message: 'the-words-of-the-provider', type: 'provider_error' } }))
/** Takes the request and never answers. */
export const hangs: Behaviour = () => {}
/** Breaks the connection off in the middle of an answer. */
export const cuts: Behaviour = (_call, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
  response.write('{"choices":[{"message":{"content":"half of a', () => response.socket?.destroy())
}

/** A model provider on a real socket that speaks OpenAI chat completions and does as the test says. */
export class ModelServer {
  readonly calls: ModelCall[] = []
  /** What it does with each request from now on. */
  behaviour: Behaviour = says('A reply.')
  readonly #server: Server
  #arrived = Promise.withResolvers<void>()

  constructor() {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ModelCall['body']
      const call = { path: request.url ?? '', headers: request.headers, body }
      this.calls.push(call)
      this.#arrived.resolve()
      this.#arrived = Promise.withResolvers<void>()
      await this.behaviour(call, response)
    })
  }

  /** Resolves to the address for `OPENAI_BASE_URL`. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  reset(): void {
    this.calls.length = 0
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
    while (this.calls.length < count) await this.#arrived.promise
  }

  /** The newest request's messages. */
  get lastPrompt(): { role: string; content: string }[] {
    return this.calls.at(-1)?.body.messages ?? []
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
