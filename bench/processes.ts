import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'

/** What is measured has one core, what measures it the other, where there are two and `taskset` is there. */
export const isPinned = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0
const CORES = { server: '0', driver: '1' }
export type Core = keyof typeof CORES

/** Moves a process with its threads, and what it starts from now on. */
export function pin(pid: number, core: Core): void {
  if (isPinned) execFileSync('taskset', ['-acp', CORES[core], String(pid)], { stdio: 'ignore' })
}

export interface Program {
  pid: number
  /** As it printed it. */
  url: string
  port: number
  /** Milliseconds until it printed that. */
  startedMs: number
  stop(): Promise<void>
}

const pinned = (core: Core | null, args: string[]): [command: string, args: string[]] =>
  isPinned && core !== null ? ['taskset', ['-c', CORES[core], process.execPath, ...args]] : [process.execPath, args]

/** Runs a program of this project to its end, on the core of what is measured, and resolves to what it printed. */
export async function runProgram(args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(...pinned('server', args), { env: { PATH: process.env.PATH } })
  return stdout
}

const running = new Set<() => void>()
process.once('exit', () => {
  for (const kill of running) kill()
})

/** Starts a program of this project that prints its address; on any core where that is `null`. Its settings are those given alone. */
export async function startProgram(
  args: string[],
  env: Record<string, string> = {},
  core: Core | null = 'server',
): Promise<Program> {
  const begun = performance.now()
  // The folder for temporary files tells whose process it is.
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

/** Of a process and all below it, with what ended meanwhile and was waited for. */
export function cpuMs(roots: readonly number[]): number {
  const ticks = treeOf(roots).map(
    (pid) =>
      fieldsOf(pid)
        ?.slice(11, 15)
        .reduce((sum, field) => sum + Number(field), 0) ?? 0,
  )
  return ticks.reduce((sum, own) => sum + own, 0) * 10
}

/** Kilobytes of one process, read without holding it up. */
export const residentKb = (pid: number): number => Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1] ?? 0)

/** Kilobytes of a process and all below it; what several share is counted once. */
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

/** Of /proc/PID/stat, from the state on: the name before it may hold anything. */
function fieldsOf(pid: number): string[] | undefined {
  const stat = read(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Undefined where the process is gone. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}
