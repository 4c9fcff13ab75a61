import { connect } from 'node:net'
import type { Client } from './client.ts'

/** Only ends hangs; not a measurement. */
export const CLOSES_WITHIN_MS = 60_000

export interface RawAnswer {
  status: number
  headers: Record<string, string>
  text: string
}

/**
 * Writes any bytes, even invalid ones. Closes the connection after a response, and resolves to the responses; rejects if there is none.
 * `leaves` half-closes the connection immediately, after which the service may close it without a response.
 */
export function exchange({ address }: Client, bytes: Buffer, { leaves = false } = {}): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(address.baseUrl)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let received = Buffer.alloc(0)
    const timer = setTimeout(() => {
      reject(new Error(`the connection was left open for ${CLOSES_WITHIN_MS} ms after: ${received}`))
      socket.destroy()
    }, CLOSES_WITHIN_MS)
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (isWhole(received)) socket.end()
    })
    // A service that rejects a body before it has arrived closes the connection while it is still being sent.
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      try {
        resolve(leaves && !isWhole(received) ? [] : [...answersIn(received)])
      } catch (error) {
        reject(error as Error)
      }
    })
    if (leaves) socket.end(bytes)
    else socket.write(bytes)
  })
}

function isWhole(received: Buffer): boolean {
  try {
    return answersIn(received).next().done === false
  } catch {
    return false
  }
}

function* answersIn(all: Buffer): Generator<RawAnswer> {
  for (let left = all; left.length > 0; ) {
    const end = left.indexOf('\r\n\r\n')
    if (end === -1) throw new Error(`no head of an answer: ${left}`)
    const [first = '', ...lines] = left.toString('latin1', 0, end).split('\r\n')
    const [, code] = /^HTTP\/1\.1 (\d{3})/.exec(first) ?? []
    if (code === undefined) throw new Error(`no status line: ${first}`)
    const headers = Object.fromEntries(
      lines.map((line) => {
        const at = line.indexOf(':')
        return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
      }),
    )
    const status = Number(code)
    left = left.subarray(end + 4)
    if (status < 200) continue
    const [body, rest] = status === 204 ? [Buffer.alloc(0), left] : bodyIn(left, headers)
    left = rest
    yield { status, headers, text: body.toString('utf8') }
  }
}

function bodyIn(bytes: Buffer, headers: Record<string, string>): [body: Buffer, rest: Buffer] {
  const length = headers['content-length']
  if (length !== undefined) {
    if (bytes.length < Number(length)) throw new Error(`the answer is shorter than it says: ${bytes}`)
    return [bytes.subarray(0, Number(length)), bytes.subarray(Number(length))]
  }
  if (headers['transfer-encoding'] !== 'chunked') return [bytes, Buffer.alloc(0)]
  const parts: Buffer[] = []
  for (let left = bytes; ; ) {
    const end = left.indexOf('\r\n')
    const size = Number.parseInt(left.toString('latin1', 0, end), 16)
    if (end === -1 || Number.isNaN(size)) throw new Error(`the answer broke off: ${bytes}`)
    parts.push(left.subarray(end + 2, end + 2 + size))
    left = left.subarray(end + 4 + size)
    if (size === 0) return [Buffer.concat(parts), left]
  }
}
