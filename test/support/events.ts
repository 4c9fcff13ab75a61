import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { createParser } from 'eventsource-parser'
import type { Client } from './client.ts'

export interface StreamEvent {
  event: string
  id: string
  // biome-ignore lint/suspicious/noExplicitAny: a test says what an event must hold by asserting it
  data: any
}

export interface EventReader {
  status: number
  headers: IncomingMessage['headers']
  events: StreamEvent[]
  comments: string[]
  /** The text of all deltas so far. */
  text(): string
  /** Resolves to the first event with this name. Rejects if the stream ends without one. */
  find(event: string): Promise<StreamEvent>
  /** Resolves when this many characters of text have arrived. */
  textOf(chars: number): Promise<void>
  /** Resolves when the service has ended the stream. Rejects if it broke off. */
  ended: Promise<void>
  /** Stops reading and leaves the connection open. */
  pause(): void
  resume(): void
  /** Disconnects. */
  leave(): void
}

export interface ReadOptions {
  body?: unknown
  headers?: Record<string, string>
}

/** Requests events and reads them with an independent standard-conforming parser. Rejects if the response is no stream. */
export function readEvents(
  client: Client,
  method: 'GET' | 'POST',
  path: string,
  options: ReadOptions = {},
): Promise<EventReader> {
  const sent = options.body === undefined ? undefined : JSON.stringify(options.body)
  const headers = {
    'x-api-key': client.key,
    accept: 'text/event-stream',
    ...(sent === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
    ...options.headers,
  }
  return new Promise((resolve, reject) => {
    const request = httpRequest(client.address.baseUrl + path, { method, headers, agent: false }, (response) => {
      if (response.headers['content-type']?.startsWith('text/event-stream')) resolve(follow(request, response))
      else response.toArray().then((chunks) => reject(new Error(`${response.statusCode} ${Buffer.concat(chunks)}`)), reject)
    })
    request.on('error', reject)
    request.end(sent)
  })
}

function follow(request: ClientRequest, response: IncomingMessage): EventReader {
  const events: StreamEvent[] = []
  const comments: string[] = []
  const ended = Promise.withResolvers<void>()
  ended.promise.catch(() => {})
  const look: (() => void)[] = []
  let chars = 0
  const parser = createParser({
    onEvent: ({ event = 'message', id = '', data }) => {
      events.push({ event, id, data: JSON.parse(data) })
      if (event === 'message.delta') chars += events.at(-1)!.data.text.length
    },
    onComment: (comment) => comments.push(comment),
  })
  const decoder = new TextDecoder()
  response.on('data', (chunk: Buffer) => {
    parser.feed(decoder.decode(chunk, { stream: true }))
    for (const again of look.splice(0)) again()
  })
  response.on('end', () => ended.resolve())
  response.on('error', (error) => ended.reject(error))
  response.on('close', () => {
    ended.reject(new Error('the stream broke off'))
    for (const again of look.splice(0)) again()
  })
  const until = async <T>(what: string, find: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      if (response.closed) throw new Error(`${what}: the stream is over: ${JSON.stringify(events)}`)
      await new Promise<void>((resolve) => look.push(resolve))
    }
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    comments,
    text: () => events.map(({ event, data }) => (event === 'message.delta' ? data.text : '')).join(''),
    find: (name) => until(name, () => events.find(({ event }) => event === name)),
    textOf: async (least) => {
      await until('text', () => (chars >= least ? true : undefined))
    },
    ended: ended.promise,
    pause: () => response.pause(),
    resume: () => response.resume(),
    leave: () => request.destroy(),
  }
}
