import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'

/** The measured processes get one core and the driver another, if there are two cores and `taskset` is available. */
export const isPinned = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0
const CORES = { server: '0', driver: '1' }
export type Core = keyof typeof CORES

/** Pins a process with its threads and its future children to a core. */
export function pin(pid: number, core: Core): void {
  if (isPinned) execFileSync('taskset', ['-acp', CORES[core], String(pid)], { stdio: 'ignore' })
}

export interface Program {
  pid: number
  /** The address that the program printed. */
  url: string
  port: number
  /** Milliseconds until the program printed its address. */
  startedMs: number
  stop(): Promise<void>
}

const pinned = (core: Core | null, args: string[]): [command: string, args: string[]] =>
  isPinned && core !== null ? ['taskset', ['-c', CORES[core], process.execPath, ...args]] : [process.execPath, args]

/** Runs a program of this project to its end on the measured core. Resolves to its output. */
export async function runProgram(args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(...pinned('server', args), { env: { PATH: process.env.PATH } })
  return stdout
}

const running = new Set<() => void>()
process.once('exit', () => {
  for (const kill of running) kill()
})

/** Starts a program of this project that prints its address. It gets only the given settings. `null` allows any core. */
export async function startProgram(
  args: string[],
  env: Record<string, string> = {},
  core: Core | null = 'server',
): Promise<Program> {
  const begun = performance.now()
  // TMPDIR shows which run a process belongs to.
  const { PATH, TMPDIR } = process.env
  const child = spawn(...pinned(core, args), { env: { PATH, TMPDIR, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  const kill = () => child.kill('SIGKILL')
  running.add(kill)
  const gone = once(child, 'exit').then(() => running.delete(kill))
  let printed = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${args[0]} ended before it was ready: ${printed}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk
      const [, found] = /(http:\/\/\S+\/v1)\n/.exec(printed) ?? []
      if (found !== undefined) resolve(found)
    })
  })
  return {
    pid: child.pid!,
    url,
    port: Number(new URL(url).port),
    startedMs: performance.now() - begun,
    async stop() {
      child.kill()
      await gone
    },
  }
}

/** Returns the processor time of a process tree, including its ended children that were waited for. */
export function cpuMs(roots: readonly number[]): number {
  const ticks = treeOf(roots).map(
    (pid) =>
      fieldsOf(pid)
        ?.slice(11, 15)
        .reduce((sum, field) => sum + Number(field), 0) ?? 0,
  )
  return ticks.reduce((sum, own) => sum + own, 0) * 10
}

/** Returns the kilobytes of one process, without pausing it. */
export const residentKb = (pid: number): number => Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1] ?? 0)

/** Returns the kilobytes of a process tree. Shared memory counts once. */
export function memoryKb(roots: readonly number[]): number {
  return treeOf(roots)
    .map((pid) => Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '')?.[1] ?? 0))
    .reduce((sum, own) => sum + own, 0)
}

export function treeOf(roots: readonly number[]): number[] {
  const tree = new Set(roots)
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(fieldsOf(Number(name))?.[1])] as const)
  for (let before = 0; before < tree.size; ) {
    before = tree.size
    for (const [pid, parent] of parents) if (tree.has(parent)) tree.add(pid)
  }
  return [...tree]
}

/** Returns the fields of /proc/PID/stat after the name, because the name can contain any character. */
function fieldsOf(pid: number): string[] | undefined {
  const stat = read(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Returns undefined if the process has ended. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}
