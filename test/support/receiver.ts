import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { listen } from './cleanup.ts'
import { until } from './poll.ts'

export interface Received {
  headers: Record<string, string>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: what is sent is the matter of tests
  body: any
}

/** Starts a server that receives webhooks. */
export async function startReceiver() {
  const received: Received[] = []
  const answers: ((response: ServerResponse) => void)[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      received.push({ headers: flat(request.headers), text, body: JSON.parse(text) })
      const answer = answers.shift() ?? ((r: ServerResponse) => r.writeHead(204).end())
      answer(response)
    })
  })
  const port = await listen(server)
  return {
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    /** Sets the responses to the next requests, in order. Default: 204. */
    answer: (...next: (number | ((response: ServerResponse) => void))[]) =>
      answers.push(...next.map((a) => (typeof a === 'function' ? a : (r: ServerResponse) => r.writeHead(a).end('sorry')))),
    /** Resolves to the first received event that passes. */
    event: (passes: (received: Received) => boolean) => until('an event', () => received.find(passes)),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>

const flat = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
