import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removedAtExit } from './cleanup.ts'
import { until } from './poll.ts'

/** The memory of a service that is in use, without what is garbage. */
export interface Memory {
  /** For the environment of the service. */
  env: { NODE_OPTIONS: string; LIVE_MEMORY: string }
  /** Megabytes that the main thread of the process holds after its garbage is collected. */
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
