import { type ChildProcess, fork } from 'node:child_process'
import { moduleBeside } from '../../core/platform/module-beside.ts'
import { type ReadAnswer, type ReadRequest, WARM } from './protocol.ts'
import { readableFolders } from './readable-folders.ts'

export interface ReadingProcessParts {
  memoryMb: number
  /** Loads everything that documents are read with before the first. Otherwise that is loaded when it is needed. */
  isWarm: boolean
  answered: (process: ReadingProcess, answer: ReadAnswer) => void
  ended: (process: ReadingProcess, code: number | null, signal: NodeJS.Signals | null) => void
  /** It could not be started. */
  failed: (process: ReadingProcess, error: Error) => void
}

/** A process that reads documents. It may read the program's own files alone, write none and start nothing. */
export class ReadingProcess {
  /** It waits for documents. */
  isReady = false
  /** It has read something. */
  isUsed = false
  /** It has loaded what other documents than small texts are read with. */
  isLoaded: boolean
  readonly #child: ChildProcess

  constructor({ memoryMb, isWarm, answered, ended, failed }: ReadingProcessParts) {
    this.isLoaded = isWarm
    this.#child = fork(moduleBeside(import.meta.url, './process'), [String(memoryMb), ...(isWarm ? [WARM] : [])], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // No secret of the service is to be found in there.
      env: {},
      execArgv: ['--permission', '--allow-worker', ...readableFolders().map((folder) => `--allow-fs-read=${folder}`)],
    })
    this.#child.on('message', (answer: ReadAnswer) => {
      if ('ready' in answer) this.isReady = true
      else if (!('cpuMs' in answer)) this.isUsed = true
      answered(this, answer)
    })
    this.#child.on('exit', (code, signal) => ended(this, code, signal))
    this.#child.on('error', (error) => failed(this, error))
  }

  send(request: ReadRequest): void {
    // The error of the process says why it could not be started.
    if (!this.#child.connected) return
    this.#child.send(request, (error) => {
      // It has ended, or is of no use. How it ends says why.
      if (error !== null) this.kill()
    })
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
