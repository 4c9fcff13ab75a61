import { ReparteeError } from '../core/errors.ts'
import type { EmbeddingCall, EmbeddingModel } from '../core/ports/embedding.ts'
import { headersOf, type Provider } from './provider.ts'
import { notUnderstood, Refusal } from './transport/failure.ts'
import { below, isListOfObjects, readJson, send } from './transport/http.ts'

/** Twice the dimensions of any known model. */
const MOST_DIMENSIONS = 8_192
/** A number as text, with its comma. */
const MAX_NUMBER_BYTES = 24
/** What an answer contains in addition to its numbers. */
const OTHER_VALUES = 1_000
const OTHER_BYTES = 65_536
/** Numbers of all vectors in an answer: 64 vectors of a usual model. Parsing more would block other requests. */
const MOST_NUMBERS = 100_000
const ANSWER_LIMITS = {
  mostValues: OTHER_VALUES + MOST_NUMBERS,
  maxBytes: OTHER_BYTES + MOST_NUMBERS * MAX_NUMBER_BYTES,
}

const MAX_TEXTS = 64
/** Limit of Google's API. */
const MAX_TEXTS_GOOGLE = 100

/** The number of texts whose vectors fit in one answer. Assumes the longest vectors until their length is known, and after a failure. */
class TextsPerCall {
  readonly #most: number
  #dimensions = MOST_DIMENSIONS

  constructor(most: number) {
    this.#most = most
  }

  get most(): number {
    return Math.min(this.#most, Math.max(1, Math.floor(MOST_NUMBERS / this.#dimensions)))
  }

  /** Makes a call, and learns the length of vectors from its answer. */
  async learnFrom(call: () => Promise<Float32Array[]>): Promise<Float32Array[]> {
    try {
      const vectors = await call()
      this.#dimensions = vectors[0]!.length
      return vectors
    } catch (error) {
      this.#dimensions = MOST_DIMENSIONS
      throw error
    }
  }
}

/** Returns a provider's embedding model; undefined if its protocol has none. */
export function embeddingModel(name: string, provider: Provider): EmbeddingModel | undefined {
  switch (provider.protocol) {
    case 'chat':
    case 'responses':
      return withTexts(MAX_TEXTS, openAiEmbeddings(name, provider))
    case 'ollama':
      return withTexts(MAX_TEXTS, ollamaEmbeddings(name, provider))
    case 'google':
      return withTexts(MAX_TEXTS_GOOGLE, googleEmbeddings(name, provider))
    case 'anthropic':
      return undefined
  }
}

type Embed = EmbeddingModel['embed']

/** Returns a model that takes at most `most` texts per call. */
function withTexts(most: number, embed: Embed): EmbeddingModel {
  const texts = new TextsPerCall(most)
  return {
    get maxTexts() {
      return texts.most
    },
    embed: (some, call) => texts.learnFrom(() => embed(some, call)),
  }
}

/** Uses the OpenAI protocol, which nearly all other providers support (https://platform.openai.com/docs/api-reference/embeddings). */
function openAiEmbeddings(name: string, provider: Provider): Embed {
  const url = below(provider.baseUrl, '/embeddings')
  const headers = headersOf(provider)
  // Base64 takes a quarter of the bytes and needs no parsing of numbers. Not every server supports it.
  let takesBase64 = true
  const ask = async (input: readonly string[], call: EmbeddingCall): Promise<unknown> => {
    const body = { model: name, input, ...(takesBase64 ? { encoding_format: 'base64' } : {}) }
    const response = await send(url, { headers, body: JSON.stringify(body), signal: call.signal, owner: call })
    return readJson(response, call.signal, ANSWER_LIMITS)
  }
  return async (texts, call) => {
    let answer: unknown
    try {
      answer = await ask(texts, call)
    } catch (error) {
      const cause = error instanceof ReparteeError ? error.cause : undefined
      if (!takesBase64 || !(cause instanceof Refusal) || !/encoding_format|base64/i.test(cause.message)) throw error
      takesBase64 = false
      answer = await ask(texts, call)
    }
    const data = (answer as { data?: unknown } | null)?.data as { index?: number; embedding?: unknown }[]
    if (!isListOfObjects(data)) throw notUnderstood()
    // The protocol does not guarantee their order.
    const ordered = data.every(({ index }) => Number.isInteger(index)) ? data.toSorted((a, b) => a.index! - b.index!) : data
    return checkedVectors(
      ordered.map(({ embedding }) => embedding),
      texts.length,
    )
  }
}

/** Uses Ollama's own protocol (https://docs.ollama.com/api/embed). */
function ollamaEmbeddings(name: string, provider: Provider): Embed {
  const url = below(provider.baseUrl, '/api/embed')
  const headers = headersOf(provider)
  return async (texts, call) => {
    const { signal } = call
    const body = JSON.stringify({ model: name, input: texts })
    const response = await send(url, { headers, body, signal, owner: call })
    const embeddings = ((await readJson(response, signal, ANSWER_LIMITS)) as { embeddings?: unknown } | null)?.embeddings
    if (!Array.isArray(embeddings)) throw notUnderstood()
    return checkedVectors(embeddings, texts.length)
  }
}

/** Uses Google's own protocol (https://ai.google.dev/api/embeddings). */
function googleEmbeddings(name: string, provider: Provider): Embed {
  const model = `models/${name}`
  const url = below(provider.baseUrl, `/${model}:batchEmbedContents`)
  const headers = headersOf(provider)
  return async (texts, call) => {
    const { purpose, signal } = call
    const taskType = purpose === 'passage' ? 'RETRIEVAL_DOCUMENT' : 'RETRIEVAL_QUERY'
    const requests = texts.map((text) => ({ model, content: { role: 'user', parts: [{ text }] }, taskType }))
    const response = await send(url, { headers, body: JSON.stringify({ requests }), signal, owner: call })
    const answer = (await readJson(response, signal, ANSWER_LIMITS)) as { embeddings?: unknown } | null
    const embeddings = answer?.embeddings as { values?: unknown }[]
    if (!isListOfObjects(embeddings)) throw notUnderstood()
    return checkedVectors(
      embeddings.map(({ values }) => values),
      texts.length,
    )
  }
}

/** Returns one vector per text, all of the same length and of finite numbers. Throws `model_failed` otherwise. */
export function checkedVectors(embeddings: readonly unknown[], count: number): Float32Array[] {
  const vectors = embeddings.map(toVector)
  const length = vectors[0]?.length ?? 0
  if (vectors.length !== count || length === 0 || length > MOST_DIMENSIONS) throw notUnderstood()
  for (const vector of vectors) if (vector.length !== length || !vector.every(Number.isFinite)) throw notUnderstood()
  return vectors
}

/** Reads a list of numbers, or little-endian 32-bit floats in base64: some servers send the format that was not requested. */
function toVector(embedding: unknown): Float32Array {
  // Other values would be converted to numbers, for example null to 0.
  if (Array.isArray(embedding) && embedding.every((value) => typeof value === 'number')) return Float32Array.from(embedding)
  if (typeof embedding !== 'string') throw notUnderstood()
  const bytes = new Uint8Array(Buffer.from(embedding, 'base64'))
  if (bytes.length % 4 !== 0) throw notUnderstood()
  return new Float32Array(bytes.buffer)
}
