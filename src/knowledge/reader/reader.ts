import { type ChildProcess, fork } from 'node:child_process'
import { DocumentError } from '../../core/document-error.ts'
import { moduleBeside } from '../../core/module-beside.ts'
import { OUT_OF_MEMORY, type ReadAnswer, type ReadRequest, type Reads } from './protocol.ts'
import { readableFolders } from './readable-folders.ts'

/** What reading one document may take. */
export interface ReadLimits {
  timeoutMs: number
  /** Resident, of the whole process; without a document it takes about 80. */
  memoryMb: number
}

export const READ_LIMITS: ReadLimits = { timeoutMs: 30_000, memoryMb: 512 }

/** A process that has nothing to read for so long ends. */
const IDLE_MS = 10_000
/** The first read of a process has to wait for its start, too. */
const START_MS = 10_000

interface Read {
  request: ReadRequest
  /** A process was ended by a signal over it. */
  wasKilled: boolean
  resolve: (result: never) => void
  reject: (error: unknown) => void
}

/**
 * Reads documents in a process of its own, started when needed: a hostile or broken file can take nothing with it. That process may
 * read the program's own files alone, write none and start nothing. One document at a time; others wait.
 */
export class DocumentReader {
  readonly #limits: ReadLimits
  readonly #waiting: Read[] = []
  #child: ChildProcess | undefined
  #current: Read | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(limits: ReadLimits = READ_LIMITS) {
    this.#limits = limits
  }

  /** Rejects with `DocumentError`, with `ReaderClosed`, or with what kept its process from starting. */
  read<K extends keyof Reads>(what: K, input: Reads[K]['input']): Promise<Reads[K]['result']> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new ReaderClosed())
      this.#waiting.push({ request: { what, input } as ReadRequest, wasKilled: false, resolve, reject })
      this.#next()
    })
  }

  close(): void {
    this.#closed = true
    const left = [...this.#waiting.splice(0), ...(this.#current === undefined ? [] : [this.#current])]
    this.#current = undefined
    this.#kill()
    for (const { reject } of left) reject(new ReaderClosed())
  }

  #next(): void {
    if (this.#current !== undefined || this.#closed) return
    clearTimeout(this.#timer)
    const read = this.#waiting.shift()
    if (read === undefined) {
      if (this.#child !== undefined) this.#timer = setTimeout(() => this.#kill(), IDLE_MS).unref()
      return
    }
    this.#current = read
    const starts = this.#child === undefined
    const child = this.#child ?? this.#start()
    // Where no process can be started, that is told of by its error.
    if (!child.connected) return
    const { timeoutMs } = this.#limits
    this.#timer = setTimeout(
      () => {
        this.#kill()
        this.#end((current) => current.reject(tooCostly(`more than ${timeoutMs / 1_000} seconds`)))
      },
      timeoutMs + (starts ? START_MS : 0),
    )
    child.send(read.request, (error) => {
      // It has ended, or is of no use: how it ends tells why.
      if (error !== null) child.kill('SIGKILL')
    })
  }

  #start(): ChildProcess {
    const { memoryMb } = this.#limits
    const child = fork(moduleBeside(import.meta.url, './process'), [String(memoryMb)], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // No secret of the service is to be found in there.
      env: {},
      execArgv: ['--permission', '--allow-worker', ...readableFolders().map((folder) => `--allow-fs-read=${folder}`)],
    })
    this.#child = child
    child.on('message', (answer: ReadAnswer) => {
      if (child !== this.#child) return
      this.#end((read) => {
        if ('result' in answer) read.resolve(answer.result as never)
        else read.reject(new DocumentError(answer.error.code, answer.error.message))
      })
    })
    child.on('exit', (code, signal) => this.#lost(child, code, signal))
    child.on('error', (error) => this.#failed(child, error))
    return child
  }

  /** It could not be started, for which no document is to blame. */
  #failed(child: ChildProcess, error: Error): void {
    if (child !== this.#child) return
    this.#kill()
    this.#end((read) => read.reject(error))
  }

  #lost(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (child !== this.#child) return
    this.#kill()
    const read = this.#current
    // Perhaps by somebody else, such as a machine without memory: the second time it is the document.
    if (signal !== null && read !== undefined && !read.wasKilled) {
      read.wasKilled = true
      this.#current = undefined
      this.#waiting.unshift(read)
      this.#next()
      return
    }
    this.#end((read) =>
      read.reject(
        code === OUT_OF_MEMORY
          ? tooCostly(`more than ${this.#limits.memoryMb} MB of memory`)
          : new DocumentError('damaged', 'Reading the document broke off: it is damaged, or made to break programs.'),
      ),
    )
  }

  #kill(): void {
    clearTimeout(this.#timer)
    const child = this.#child
    this.#child = undefined
    child?.kill('SIGKILL')
  }

  #end(settle: (read: Read) => void): void {
    const read = this.#current
    this.#current = undefined
    if (read !== undefined) settle(read)
    this.#next()
  }
}

/** The service is going down: nothing is said about the document. */
export class ReaderClosed extends Error {
  override readonly name = 'ReaderClosed'
}

const tooCostly = (what: string) =>
  new DocumentError('too_costly', `Reading the document took ${what}. Send it in parts, or as text.`)
