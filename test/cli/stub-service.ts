import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface StubRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** Status, body, and headers where there are any; `undefined` leaves the request without an answer. */
export type StubAnswer = [status: number, body: object | string, headers?: Record<string, string>] | undefined

export interface StubService {
  /** For `REPARTEE_URL` and `REPARTEE_KEY`. */
  env: Record<string, string>
  requests: StubRequest[]
  close(): void
}

/** Stands in for a service that behaves as a real one seldom does. */
export async function stubService(answer: (request: StubRequest) => StubAnswer): Promise<StubService> {
  const requests: StubRequest[] = []
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const request = { method, path: url.replace(/^\/v1/, ''), headers, body: await text(incoming) }
    requests.push(request)
    const given = answer(request)
    if (given === undefined) return
    const [status, body, more] = given
    outgoing.writeHead(status, { 'content-type': 'application/json', ...more })
    outgoing.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    env: { REPARTEE_URL: `http://127.0.0.1:${port}`, REPARTEE_KEY: 'rpt_stub' },
    requests,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

export const AGENT_ID = '01a1fb80-0000-7000-8000-000000000001'

/** The list of agents with one called Support, as far as the commands look at it. */
export const oneAgent = {
  success: true,
  agents: [
    { id: AGENT_ID, name: 'Support', model: 'extractive', greeting: '', starters: [], createdAt: '2026-11-20T14:10:00.000Z' },
  ],
  pagination: { hasMore: false, nextCursor: null, total: 1 },
}
