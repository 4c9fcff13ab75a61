import { type ChildProcess, fork } from 'node:child_process'
import { moduleBeside } from '../../core/platform/module-beside.ts'
import { type ReadAnswer, type ReadRequest, WARM } from './protocol.ts'
import { readableFolders } from './readable-folders.ts'

export interface ReadingProcessParts {
  memoryMb: number
  /** Loads all readers before the first document. Otherwise they are loaded when needed. */
  isWarm: boolean
  answered: (process: ReadingProcess, answer: ReadAnswer) => void
  ended: (process: ReadingProcess, code: number | null, signal: NodeJS.Signals | null) => void
  /** Called if the process could not be started. */
  failed: (process: ReadingProcess, error: Error) => void
}

/** A process that reads documents. It can only read the program's own files. It cannot write files or start processes. */
export class ReadingProcess {
  /** The process waits for documents. */
  isReady = false
  /** The process has read a document. */
  isUsed = false
  /** The process has loaded the code for documents other than small texts. */
  isLoaded: boolean
  readonly #child: ChildProcess

  constructor({ memoryMb, isWarm, answered, ended, failed }: ReadingProcessParts) {
    this.isLoaded = isWarm
    this.#child = fork(moduleBeside(import.meta.url, './process'), [String(memoryMb), ...(isWarm ? [WARM] : [])], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // The process must not see secrets of the service.
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
      // The process has ended or is unusable. Its exit says why.
      if (error !== null) this.kill()
    })
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
