import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { TestsStream } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ENDS_WITHIN_MS, folderOf } from './folders.ts'
import { isAlive, kill, type Leftover, processesOf } from './leftovers.ts'

const LOOKS_EVERY_MS = 1_000
/** Limit for the time in which no test starts or ends. Must exceed the longest test. */
const SILENT_MS = 1_200_000
const PID = '.pid'

/** Ends hanging test files, and processes that outlive their file, because both would keep the run from ending. */
export class FileGuard {
  /** Descriptions of everything that was ended. */
  readonly faults: string[] = []
  readonly #run: string
  /** By file: time of the last start or end of a test. */
  readonly #lastEvent = new Map<string, number>()
  readonly #goneSince = new Map<string, number>()

  /** `run` is the folder of the run. */
  constructor(run: string) {
    this.#run = run
    setInterval(() => this.#look(), LOOKS_EVERY_MS).unref()
  }

  watch(events: TestsStream): void {
    const note = ({ file }: { file?: string | undefined }) => {
      if (file !== undefined) this.#lastEvent.set(basename(folderOf(this.#run, file)), performance.now())
    }
    events.on('test:dequeue', note).on('test:complete', note)
  }

  /** Resolves when nothing is left of the files that have run. */
  async settled(): Promise<void> {
    while (this.#look() > 0) await pause(LOOKS_EVERY_MS)
  }

  /** Returns the number of files that have not ended or have left processes. */
  #look(): number {
    const names = readdirSync(this.#run).filter((name) => name.endsWith(PID))
    for (const name of names) this.#lookAt(name.slice(0, -PID.length))
    return names.length
  }

  #lookAt(file: string): void {
    const now = performance.now()
    const pid = Number(readFileSync(join(this.#run, file + PID), 'utf8'))
    if (isAlive(pid)) {
      if (now - (this.#lastEvent.get(file) ?? now) < SILENT_MS) return
      this.#end(
        file,
        `${file} was killed: no test of it ended for ${SILENT_MS / 60_000} minutes.`,
        processesOf(join(this.#run, file)),
      )
      kill(pid)
      return
    }
    const left = processesOf(join(this.#run, file))
    const since = this.#goneSince.get(file) ?? now
    this.#goneSince.set(file, since)
    if (left.length > 0 && now - since < ENDS_WITHIN_MS) return
    if (left.length > 0) this.#end(file, `${file} left processes behind, which were killed.`, left)
    rmSync(join(this.#run, file + PID))
    this.#goneSince.delete(file)
  }

  #end(file: string, fault: string, processes: Leftover[]): void {
    this.faults.push(`${fault}${processes.map(({ pid, command }) => `\n  ${pid} ${command}`).join('')}`)
    this.#lastEvent.delete(file)
    for (const { pid } of processes) kill(pid)
  }
}
