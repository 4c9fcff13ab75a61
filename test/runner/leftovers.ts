// Finds what a test run leaves. Every process of a run refers to its folder in its environment, arguments or working folder.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'

export interface Leftover {
  pid: number
  /** Command line. */
  command: string
}

/** Returns the processes that refer to a folder. Without `/proc` it finds none, so test files must end their own processes. */
export function processesOf(folder: string): Leftover[] {
  const own = new Set([process.pid, process.ppid])
  return processIds()
    .filter((pid) => !own.has(pid) && knows(pid, folder))
    .map((pid) => ({ pid, command: readProcess(pid, 'cmdline').replaceAll('\0', ' ').trim() }))
}

/** Kills the processes that refer to a folder until none is left, then removes the folder. */
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
    // Already ended.
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

/** Returns the parent of a process, or NaN if unknown. */
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
  // A zombie has ended. Only its entry remains until its parent reads it.
  if (/^State:\s+Z/m.test(readProcess(pid, 'status'))) return false
  const known = `${readProcess(pid, 'environ')}\0${readProcess(pid, 'cmdline')}\0${workingFolder(pid)}`
  return known.includes(folder)
}

/** Returns an empty text if the process has ended or belongs to another user. */
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
