import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The clock of a service, which a test can set at any time. */
export interface Clock {
  /** Environment for the service. */
  env: { NODE_OPTIONS: string; TEST_CLOCK: string }
  /** Sets the clock this many milliseconds ahead of the machine's clock, or back if negative. */
  shift(ms: number): void
  close(): void
}

export function openClock(): Clock {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-clock-'))
  const path = join(folder, 'clock')
  const shift = (ms: number) => {
    writeFileSync(`${path}.new`, String(Math.round(ms)))
    renameSync(`${path}.new`, path)
  }
  shift(0)
  return {
    env: { NODE_OPTIONS: `--import=${new URL('shifted-clock.ts', import.meta.url)}`, TEST_CLOCK: path },
    shift,
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}
