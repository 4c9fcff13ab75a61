// Registers everything that a test starts, so that a test file always ends.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { constants } from 'node:os'
import { after } from 'node:test'

const isTestFile = process.env['NODE_TEST_CONTEXT'] !== undefined || /\.test\.ts$/.test(process.argv[1] ?? '')
const pending: { what: string; end: () => Promise<void> }[] = []
const children = new Set<ChildProcess>()
const folders = new Set<string>()

/**
 * Registers a cleanup. Returns a function that runs it at most once.
 * When the tests of a file are over, the remaining cleanups run, newest first. A failed cleanup does not stop the others.
 */
export function endsBy(what: string, end: () => unknown): () => Promise<void> {
  let ended: Promise<void> | undefined
  const entry = { what, end: () => (ended ??= endNow()) }
  const endNow = async () => {
    pending.splice(pending.indexOf(entry), 1)
    await end()
  }
  pending.push(entry)
  return entry.end
}

/** Starts a child process. It is killed with the test file at the latest. */
export function launch(command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const child = spawn(command, args, options)
  const kill = endsBy(command, () => killed(child))
  children.add(child)
  for (const event of ['exit', 'error'])
    child.once(event, () => {
      children.delete(child)
      void kill()
    })
  return child
}

/** Starts a server on a free local port until it is closed or the test file ends. Resolves to the port. */
export async function listen(server: Server): Promise<number> {
  const close = endsBy('a server', () => {
    server.close()
    if (server instanceof HttpServer) server.closeAllConnections()
  })
  server.once('close', () => void close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Kills a child process. Resolves when it has ended. */
export async function killed(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  // Without `ref`, the exit of an unreferenced child could go unnoticed if nothing else is pending.
  child.ref()
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await gone
}

/** Removes a folder when this process exits, at the latest. Returns the folder. */
export function removedAtExit(folder: string): string {
  folders.add(folder)
  return folder
}

/** Runs all registered cleanups. Throws all failures together. */
export async function endAll(): Promise<void> {
  const failures: Error[] = []
  for (let last = pending.at(-1); last !== undefined; last = pending.at(-1)) {
    const { what, end } = last
    await end().catch((cause: unknown) => failures.push(new Error(`${what} did not end`, { cause })))
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.map(({ message }) => message).join('; '))
}

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

if (isTestFile) {
  after(endAll)
  // By default a signal ends a process without running its `exit` handlers.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
}
