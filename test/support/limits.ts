import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after } from 'node:test'
import type { Service } from './service.ts'

const names = {
  /** Maximum size of any file in bytes. With 0, nothing can be written, as on a full disk. */
  fsize: 'Max file size',
  /** Maximum number of open files and connections. */
  nofile: 'Max open files',
}

/** Sets an operating system limit of a running process. Returns a function that restores the old limit. */
export function limit(pid: number, what: keyof typeof names, most: number): () => void {
  const [, soft, hard] = new RegExp(`${names[what]} +(\\S+) +(\\S+)`).exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))!
  const set = (value: string) => execFileSync('prlimit', [`--pid=${pid}`, `--${what}=${value}:${hard}`])
  set(String(most))
  return () => set(soft!)
}

const CONNECTIONS = 60
const CONNECT_AGAIN_MS = 100

/**
 * Lowers the descriptor limit of a process and uses the descriptors up with connections. Reopens each connection that the process closes.
 * Resolves when the first one is rejected. `free` closes the connections; `lift` restores the limit.
 */
export async function useUpDescriptors(service: Service): Promise<{ free: () => void; lift: () => void }> {
  const lift = limit(service.pid()!, 'nofile', readdirSync(`/proc/${service.pid()}/fd`).length + 20)
  const { port } = new URL(service.client.address.baseUrl)
  const sockets = new Set<Socket>()
  let isFree = false
  const turnedAway = Promise.withResolvers<void>()
  const open = () => {
    if (isFree) return
    const socket = connect(Number(port), '127.0.0.1')
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      turnedAway.resolve()
      setTimeout(open, CONNECT_AGAIN_MS)
    })
  }
  for (let i = 0; i < CONNECTIONS; i++) open()
  const free = () => {
    isFree = true
    for (const socket of sockets) socket.destroy()
  }
  after(free)
  await turnedAway.promise
  return { free, lift }
}
