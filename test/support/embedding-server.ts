import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from './cleanup.ts'

/** Groups of synonyms for the models of this server. */
const MEANINGS = [
  ['refund', 'reimburse', 'repayment', 'money'],
  ['car', 'automobile', 'vehicle'],
  ['doctor', 'physician', 'surgeon'],
  ['child', 'kid', 'toddler'],
]
const meaningOf = new Map(MEANINGS.flatMap((words, i) => words.map((word) => [word, `meaning ${i}`] as const)))

/** Embedding models over HTTP, in the formats of OpenAI, Ollama and Google. Texts with synonyms have similar vectors. */
export class EmbeddingServer {
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => this.#answer(request.url!, JSON.parse(Buffer.concat(chunks).toString() || '{}'), response))
  })
  /** Every embedded text, with the model. */
  readonly asked: { model: string; text: string; purpose?: string }[] = []
  dimensions = 64
  /** Dimensions of the next responses, in order. */
  next: number[] = []
  /** Responds with 500 for this model, or for all models. */
  isDown: boolean | string = false
  /** Like servers that do not support `encoding_format`. */
  refusesBase64 = false
  /** Rejects texts that are longer, and texts with the word `unspeakable`. */
  longest = Number.POSITIVE_INFINITY
  unspeakable: string | undefined
  /** Responses of this model wait until the promise resolves. */
  held: { model: string; until: Promise<void> } | undefined

  async start(): Promise<this> {
    await listen(this.#server)
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  count(model?: string): number {
    return this.asked.filter((asked) => model === undefined || asked.model === model).length
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  // biome-ignore lint/suspicious/noExplicitAny: the bodies of three protocols
  async #answer(url: string, body: any, response: ServerResponse): Promise<void> {
    const google = /\/models\/([^:]+):(batchEmbedContents|embedContent)/.exec(url)
    const model: string = google?.[1] ?? body.model
    if (this.held?.model === model) await this.held.until
    const dimensions = this.next.shift() ?? this.dimensions
    const send = (status: number, answer: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    if (this.isDown === true || this.isDown === model) return void send(500, { error: { message: 'down' } })
    if (google !== null) {
      const requests = body.requests ?? [body]
      const embeddings = requests.map(({ content, taskType }: { content: { parts: { text: string }[] }; taskType?: string }) => ({
        values: [...this.#embed(model, content.parts[0]!.text, dimensions, taskType)],
      }))
      return void send(200, google[2] === 'embedContent' ? { embedding: embeddings[0] } : { embeddings })
    }
    const texts: string[] = [body.input].flat()
    if (texts.some((text) => text.length > this.longest || (this.unspeakable !== undefined && text.includes(this.unspeakable))))
      return void send(400, { error: { message: 'an input is not acceptable' } })
    if (url.endsWith('/api/embed'))
      return void send(200, { model, embeddings: texts.map((text) => [...this.#embed(model, text, dimensions)]) })
    if (!url.endsWith('/embeddings')) return void send(404, { error: { message: url } })
    if (this.refusesBase64 && body.encoding_format !== undefined)
      return void send(400, { error: { message: 'unknown field encoding_format' } })
    const data = texts.map((text, index) => {
      const vector = this.#embed(model, text, dimensions)
      const embedding = body.encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector]
      return { object: 'embedding', index, embedding }
    })
    // In any order, as the protocol allows.
    send(200, { object: 'list', model, data: data.reverse(), usage: { prompt_tokens: 1, total_tokens: 1 } })
  }

  #embed(model: string, text: string, dimensions: number, purpose?: string): Float32Array {
    this.asked.push({ model, text, ...(purpose === undefined ? {} : { purpose }) })
    const vector = new Float32Array(dimensions)
    // The component that all texts of a model share.
    vector.fill(0.05)
    for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
      const meaning = meaningOf.get(word)
      let hash = 7
      for (const letter of meaning ?? word) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0
      vector[hash % dimensions]! += (hash & 1 ? 1 : -1) * (meaning === undefined ? 0.2 : 2)
    }
    return vector
  }
}
