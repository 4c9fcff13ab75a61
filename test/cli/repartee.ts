import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { launch } from '../support/cleanup.ts'

const MAIN = fileURLToPath(new URL('../../src/start.js', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface Running {
  child: ChildProcess
  /** What it has printed up to now. */
  printed(): string
  ended: Promise<Ended>
}

/** Starts the command line as a user does, in a process of its own, with these settings only. */
export function start(args: string[], env: Record<string, string>, cwd?: string): Running {
  const child = launch(process.execPath, [MAIN, ...args], { env: { ...inherited(), ...env }, cwd, stdio: 'pipe' })
  const text = { stdout: '', stderr: '' }
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
    text.stdout += chunk
  })
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
    text.stderr += chunk
  })
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...text })))
  return { child, printed: () => text.stdout + text.stderr, ended }
}

/** Runs a command to its end; `input` is what a pipe feeds it. */
export function repartee(args: string[], env: Record<string, string>, input = ''): Promise<Ended> {
  const { child, ended } = start(args, env)
  child.stdin!.on('error', () => {}) // it may end before it has read everything
  child.stdin!.end(input)
  return ended
}

const inherited = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(REPARTEE|OPENAI|NODE_TEST|NODE_OPTIONS)/.test(name)))
