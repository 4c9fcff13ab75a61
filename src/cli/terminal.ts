import { styleText } from 'node:util'
import type { Terminal } from './command.ts'

const CLEAR_LINE = '\r\x1b[K'

export function processTerminal(env: NodeJS.ProcessEnv): Terminal {
  const { stdin, stdout, stderr } = process
  const isWatched = stdout.isTTY === true && stderr.isTTY === true
  let hasStatus = false
  const clear = () => {
    if (hasStatus) stderr.write(CLEAR_LINE)
    hasStatus = false
  }
  // A reader such as `head` may close the pipe early, which is no failure.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  return {
    env,
    out(text) {
      clear()
      stdout.write(`${text}\n`)
    },
    err(text) {
      clear()
      stderr.write(`${text}\n`)
    },
    status(text) {
      if (!isWatched) return
      clear()
      stderr.write(text.slice(0, (stderr.columns || 80) - 1))
      hasStatus = true
    },
    bold: (text) => styleText('bold', text, { stream: stdout }),
    dim: (text) => styleText('dim', text, { stream: stdout }),
    good: (text) => styleText(['bold', 'green'], text, { stream: stdout }),
    bad: (text) => styleText(['bold', 'red'], text, { stream: stderr }),
    isInteractive: stdin.isTTY === true && stdout.isTTY === true,
    isWatched,
    input: stdin,
    output: stdout,
    interruption() {
      const controller = new AbortController()
      process.once('SIGINT', () => controller.abort())
      return controller.signal
    },
  }
}
