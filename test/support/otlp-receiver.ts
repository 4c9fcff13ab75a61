import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { listen } from './cleanup.ts'

type Value = string | number | boolean | string[]

export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  traceState: string | undefined
  name: string
  kind: number
  attributes: Record<string, Value>
  status: { code?: number; message?: string }
}

/** A trace collector that accepts OTLP over HTTP in the JSON encoding, and rejects other content. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = []
  readonly bodies: string[] = []
  readonly paths: string[] = []
  resource: Record<string, Value> = {}
  headers: IncomingHttpHeaders = {}
  /** Statuses of the next responses, which reject the request. */
  refusals: number[] = []
  /** Accepts requests and never responds. */
  hangs = false
  readonly #server = createServer((request, response) => {
    request.toArray().then((chunks) => {
      this.paths.push(request.url!)
      const refusal = this.refusals.shift()
      if (this.hangs) return
      if (refusal !== undefined) return response.writeHead(refusal).end()
      this.headers = request.headers
      this.#take(Buffer.concat(chunks).toString('utf8'))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })

  async listen(): Promise<string> {
    return `http://127.0.0.1:${await listen(this.#server)}`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #take(body: string): void {
    this.bodies.push(body)
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      this.resource = toRecord(resource.attributes)
      for (const { scope, spans } of scopeSpans) {
        assert.equal(scope.name, 'repartee')
        this.spans.push(...spans.map(toSpan))
      }
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: it is read here for the first time
function toSpan(span: any): ReceivedSpan {
  assert.match(span.traceId, /^[0-9a-f]{32}$/)
  assert.match(span.spanId, /^[0-9a-f]{16}$/)
  for (const time of [span.startTimeUnixNano, span.endTimeUnixNano]) assert.match(time, /^\d{19}$/)
  assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))
  assert.ok(Math.abs(Number(BigInt(span.startTimeUnixNano) / 1_000_000n) - Date.now()) < 600_000)
  const { traceId, spanId, parentSpanId, traceState, name, kind, status } = span
  return { traceId, spanId, parentSpanId, traceState, name, kind, status, attributes: toRecord(span.attributes) }
}

// biome-ignore lint/suspicious/noExplicitAny: the same
const toRecord = (pairs: any[]): Record<string, Value> => Object.fromEntries(pairs.map(({ key, value }) => [key, toValue(value)]))

// biome-ignore lint/suspicious/noExplicitAny: the same
function toValue(value: any): Value {
  const [[kind, inner]] = Object.entries(value) as [[string, never]]
  if (kind === 'intValue') {
    assert.match(inner, /^-?\d+$/)
    return Number(inner)
  }
  if (kind === 'arrayValue') return (inner as { values: object[] }).values.map((one) => toValue(one) as string)
  assert.ok(['stringValue', 'doubleValue', 'boolValue'].includes(kind), kind)
  return inner
}
