import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removedAtExit } from './cleanup.ts'
import { until } from './poll.ts'

/** Memory in use by a service, without garbage. */
export interface Memory {
  /** Environment for the service. */
  env: { NODE_OPTIONS: string; LIVE_MEMORY: string }
  /** Returns the megabytes in use by the process's main thread after a garbage collection. */
  megabytes(pid: number): Promise<number>
}

export function openMemory(): Memory {
  const path = join(removedAtExit(mkdtempSync(join(tmpdir(), 'repartee-memory-'))), 'bytes')
  const measured = () => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [])
  return {
    env: { NODE_OPTIONS: `--expose-gc --import=${new URL('live-memory.ts', import.meta.url)}`, LIVE_MEMORY: path },
    megabytes: async (pid) => {
      const before = measured().length
      process.kill(pid, 'SIGUSR2')
      await until('its memory is measured', () => measured().length > before)
      return Number(measured().at(-1)) / 1_000_000
    },
  }
}
