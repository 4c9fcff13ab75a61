import type { ServerResponse } from 'node:http'
import type { Behaviour } from './model-server.ts'

/** A model whose output the test controls step by step, in the stream format of OpenAI's chat completions. */
export class Speaker {
  readonly #asked = Promise.withResolvers<ServerResponse>()
  /** Resolves when the service has disconnected from the model. */
  readonly left: Promise<void>
  readonly #left = Promise.withResolvers<void>()

  constructor() {
    this.left = this.#left.promise
  }

  readonly behaviour: Behaviour = (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    response.on('close', () => this.#left.resolve())
    this.#asked.resolve(response)
  }

  async say(...pieces: string[]): Promise<void> {
    for (const content of pieces) await this.#send({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
  }

  async end(reason = 'stop'): Promise<void> {
    await this.#send({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })
    await this.#send({ choices: [], usage: { prompt_tokens: 21, completion_tokens: 7, total_tokens: 28 } })
    const response = await this.#asked.promise
    response.end('data: [DONE]\n\n')
  }

  async cut(): Promise<void> {
    const response = await this.#asked.promise
    response.socket?.destroy()
  }

  async bytes(text: string): Promise<void> {
    const response = await this.#asked.promise
    response.write(text)
  }

  async #send(data: object): Promise<void> {
    const response = await this.#asked.promise
    await new Promise<void>((resolve) =>
      response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...data })}\n\n`, () => resolve()),
    )
  }
}
