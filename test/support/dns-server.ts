import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { endsBy } from './cleanup.ts'

const A = 1
const AAAA = 28
export const NO_SUCH_NAME = 3
export const SERVER_FAILURE = 2

/** The addresses of a name, a response code, or `silent` for no response. `onlyIpv4` answers A queries but never AAAA. */
type Record = string[] | number | 'silent' | { onlyIpv4: string[] }

export interface DnsServer {
  /** For `Resolver.setServers`. */
  address: string
  /** Queried names, in order. */
  asked: string[]
}

/** Starts a DNS server on loopback, over UDP. Unknown names do not exist. */
export async function startDnsServer(names: { [name: string]: Record }): Promise<DnsServer> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query)
    asked.push(name)
    const record = names[name] ?? NO_SUCH_NAME
    if (record === 'silent' || (type === AAAA && isOnlyIpv4(record))) return
    socket.send(toAnswer(query.subarray(0, end), type, isOnlyIpv4(record) ? record.onlyIpv4 : record), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  endsBy('a DNS server', () => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

const isOnlyIpv4 = (record: Record): record is { onlyIpv4: string[] } => typeof record === 'object' && !Array.isArray(record)

/** Reads the first question: length-prefixed labels from byte 12, then type and class. */
function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function toAnswer(question: Buffer, type: number, record: string[] | number): Buffer {
  const addresses = typeof record === 'number' ? [] : record.filter((address) => isIPv6(address) === (type === AAAA))
  const head = Buffer.from(question)
  head.writeUInt16BE(0x8180 | (typeof record === 'number' ? record : 0), 2) // a response, with recursion
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...addresses.map((address) => toResource(address))])
}

/** Returns a resource record. Its name is a pointer to the question. */
function toResource(address: string): Buffer {
  const bytes = isIPv6(address) ? ipv6Bytes(address) : Buffer.from(address.split('.').map(Number))
  const fixed = Buffer.alloc(12)
  fixed.writeUInt16BE(0xc00c, 0)
  fixed.writeUInt16BE(isIPv6(address) ? AAAA : A, 2)
  fixed.writeUInt16BE(1, 4)
  fixed.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([fixed, bytes])
}

/** Returns the bytes of an address without `::`. */
function ipv6Bytes(address: string): Buffer {
  const bytes = Buffer.alloc(16)
  for (const [i, group] of address.split(':').entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), 2 * i)
  return bytes
}
