// What a run of the tests leaves behind. Everything that it starts knows a folder of the run, by its environment, its arguments or its working folder.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'

export interface Leftover {
  pid: number
  /** As it was started. */
  command: string
}

/** The processes that know a folder. Without `/proc` none is found: there a file of tests must end what it starts. */
export function processesOf(folder: string): Leftover[] {
  const own = new Set([process.pid, process.ppid])
  return processIds()
    .filter((pid) => !own.has(pid) && knows(pid, folder))
    .map((pid) => ({ pid, command: readProcess(pid, 'cmdline').replaceAll('\0', ' ').trim() }))
}

/** Kills the processes that know a folder until none is left, and removes the folder. */
export async function removeRun(folder: string): Promise<void> {
  for (let left = processesOf(folder); left.length > 0; left = processesOf(folder)) {
    for (const { pid } of left) kill(pid)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  for (const mount of mountsIn(folder)) execFileSync('umount', ['--lazy', mount])
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The parent of a process; NaN where that is not known. */
export const parentOf = (pid: number): number => Number(/^PPid:\s+(\d+)/m.exec(readProcess(pid, 'status'))?.[1])

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0)
  } catch {
    return []
  }
}

function knows(pid: number, folder: string): boolean {
  // A zombie is gone but for its entry, which its parent has to read.
  if (/^State:\s+Z/m.test(readProcess(pid, 'status'))) return false
  const known = `${readProcess(pid, 'environ')}\0${readProcess(pid, 'cmdline')}\0${workingFolder(pid)}`
  return known.includes(folder)
}

/** Empty where the process is gone or belongs to somebody else. */
function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

function workingFolder(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}

function mountsIn(folder: string): string[] {
  try {
    const lines = readFileSync('/proc/mounts', 'utf8').split('\n')
    return lines.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(`${folder}/`))
  } catch {
    return []
  }
}
