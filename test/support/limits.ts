import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const names = {
  /** Bytes that any file may have: with 0 nothing can be written, as on a full disk. */
  fsize: 'Max file size',
  /** Files and connections that may be open at once. */
  nofile: 'Max open files',
}

/** Holds a running process to a limit of the operating system. Returns how to lift it again. */
export function limit(pid: number, what: keyof typeof names, most: number): () => void {
  const [, soft, hard] = new RegExp(`${names[what]} +(\\S+) +(\\S+)`).exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))!
  const set = (value: string) => execFileSync('prlimit', [`--pid=${pid}`, `--${what}=${value}:${hard}`])
  set(String(most))
  return () => set(soft!)
}
