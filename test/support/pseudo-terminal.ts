import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { findProgram } from '../runner/programs.ts'
import { launch } from './cleanup.ts'
import { until } from './poll.ts'

const MAIN = fileURLToPath(new URL('../../src/start.js', import.meta.url))

/** The command line as a user sees it in a terminal. */
export interface InTerminal {
  child: ChildProcess
  /** Returns all output of the terminal, with its control characters. */
  shown(): string
  /** Waits for a text after the previously expected one. */
  expect(text: string | RegExp): Promise<void>
  type(line: string): void
  press(keys: string): void
  ended: Promise<number | null>
}

/** Runs `repartee` in a pseudo-terminal with only these settings. */
export const inTerminal = (args: string[], env: Record<string, string>, cwd?: string): InTerminal =>
  programInTerminal([process.execPath, MAIN, ...args], env, cwd)

/** Runs a program in a pseudo-terminal, with `script` of util-linux. */
export function programInTerminal(words: string[], env: Record<string, string>, cwd?: string): InTerminal {
  const command = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(REPARTEE|OPENAI|ANTHROPIC|GOOGLE|GEMINI|OLLAMA|NODE_TEST|NODE_OPTIONS|NO_COLOR|FORCE_COLOR|CI$)/.test(name),
  )
  const child = launch(findProgram('script'), ['-qefc', `exec ${command}`, '/dev/null'], {
    env: { ...Object.fromEntries(inherited), TERM: 'xterm', SHELL: '/bin/sh', ...env },
    cwd,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  let from = 0
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (shown += chunk))
  child.stdin!.on('error', () => {}) // it may end before it has read everything
  return {
    child,
    shown: () => shown,
    async expect(text) {
      const find = (behind: string) =>
        typeof text === 'string'
          ? behind.includes(text)
            ? behind.indexOf(text) + text.length
            : undefined
          : endOf(text.exec(behind))
      await until(`the terminal shows ${text}`, () => {
        const end = find(shown.slice(from))
        from += end ?? 0
        return end !== undefined
      }).catch((error: Error) => {
        throw new Error(`${error.message}, and not:\n${shown.slice(from)}`, { cause: error })
      })
    },
    press: (keys) => void child.stdin!.write(keys),
    type: (line) => void child.stdin!.write(`${line}\n`),
    ended: new Promise((resolve) => child.once('close', resolve)),
  }
}

const endOf = (found: RegExpExecArray | null) => (found === null ? undefined : found.index + found[0].length)
