import { DocumentError } from '../../core/document-error.ts'
import { InTurn, partOf } from '../../core/fairness/in-turn.ts'
import { SlowOwners } from '../../core/fairness/slow-owners.ts'
import { TurnShares } from '../../core/fairness/turn-shares.ts'
import { OUT_OF_MEMORY, type ReadAnswer, type ReadRequest, type Reads } from './protocol.ts'
import { ReadingProcess } from './reading-process.ts'

/** Limits for reading one document. */
export interface ReadLimits {
  timeoutMs: number
  /** Resident memory of the whole process. Without a document it is about 80 MB. */
  memoryMb: number
}

export const READ_LIMITS: ReadLimits = { timeoutMs: 30_000, memoryMb: 512 }

/** Idle time after which a process ends. */
const IDLE_MS = 10_000
/** Extra time for the start of a process, and for loading code for the first document that is no small text. A busy machine takes long. */
const START_MS = 30_000

/** A document that takes longer moves to another process if others wait. */
const SLOW_MS = 500
/** Share of `SLOW_MS` that must be processor time. With less, the machine is busy and the document is not slow. */
const SLOW_CPU = 0.5
/** Multiple of `SLOW_MS` after which a document is slow in any case. */
const SLOWEST = 4
/** The time between two reports of processor time. */
const LOOK_AGAIN_MS = 100
/** How often to check if the current document is still wanted. A document that waited longer is checked before it is read. */
const ASK_EVERY_MS = 1_000
/** How long the start of a process may delay others. */
const SLOW_START_MS = 2_000
/** Texts up to this size take milliseconds. */
const QUICK_BYTES = 65_536
const QUICK_LOOK_BYTES = 1_024
const BINARY = /^PK|%PDF|\0/
/** Slow documents that take longer move to a third process. */
const VERY_SLOW_MS = 5_000

/** Documents and bytes that are sent ahead, so that small documents do not wait for the round trip. */
const AHEAD = 32
const AHEAD_BYTES = 1_048_576

/** Reads documents in processes: small texts in one, other documents in another, and slow documents in further ones. */
export class DocumentReaders {
  readonly #texts: DocumentReader
  readonly #others: DocumentReader

  constructor(limits: ReadLimits = READ_LIMITS) {
    const forSlow = new DocumentReader(limits, new DocumentReader(limits), VERY_SLOW_MS)
    this.#texts = new DocumentReader(limits, forSlow)
    this.#others = new DocumentReader(limits, forSlow)
  }

  /** See `DocumentReader.read`. */
  read: DocumentReader['read'] = (what, input, owner, isWanted) =>
    (isQuick(input.content) ? this.#texts : this.#others).read(what, input, owner, isWanted)

  close(): void {
    this.#texts.close()
    this.#others.close()
  }
}

interface Read {
  request: ReadRequest
  owner: string
  isWanted: () => boolean
  addedAt: number
  /** A small text. Other documents do not delay it. */
  isQuick: boolean
  /** A process ended while this document was sent to it. */
  isSuspect: boolean
  /** A signal ended a process to which only this document was sent. */
  wasKilled: boolean
  resolve: (result: never) => void
  reject: (error: unknown) => void
}

/**
 * Reads documents in a separate process, started when needed, so that a hostile or broken file cannot harm the service. Reads one document at a time, while a
 * few small ones wait in the process. If it ends, each of them is sent alone, and is to blame only if the process has read nothing else. A slow document that
 * delays others moves to another reader and starts again there. If an agent has too many documents that are slow or end the process, all its documents move
 * at once. Small texts and other documents are counted separately, and take turns. Next is the key that used the least time recently, then its agent that
 * used the least.
 */
export class DocumentReader {
  readonly #limits: ReadLimits
  readonly #forSlow: DocumentReader | undefined
  readonly #slowMs: number
  readonly #slowAgents = new SlowOwners()
  readonly #quick = new InTurn<Read>()
  readonly #waiting = new InTurn<Read>()
  readonly #used = new TurnShares()
  #isQuickNext = true
  /** Sent before all others: documents that found no room, and documents of a process that ended. */
  #first: Read[] = []
  /** Sent to the process, which answers in this order. */
  #sent: Read[] = []
  #process: ReadingProcess | undefined
  /** Replaces the process when a slow document ends it, so that others do not wait for a start. Started after the first slow document. */
  #spare: ReadingProcess | undefined
  #hasMoved = false
  #timer: NodeJS.Timeout | undefined
  /** Start time and processor time of the current document, in milliseconds. */
  #since = 0
  #cpuMs = 0
  #slowTimer: NodeJS.Timeout | undefined
  #askTimer: NodeJS.Timeout | undefined
  #closed = false

  /** `forSlow` reads documents that take longer than `slowMs` while others wait. */
  constructor(limits: ReadLimits = READ_LIMITS, forSlow?: DocumentReader, slowMs = SLOW_MS) {
    this.#limits = limits
    this.#forSlow = forSlow
    this.#slowMs = slowMs
  }

  /** Rejects with `DocumentError`, with the error that prevented the start of the process, or with `ReaderClosed` (also if no longer wanted). */
  read<K extends keyof Reads>(what: K, input: Reads[K]['input'], owner = '', isWanted = () => true): Promise<Reads[K]['result']> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new ReaderClosed())
      const request = { what, input } as ReadRequest
      const state = { isQuick: isQuick(input.content), isSuspect: false, wasKilled: false, addedAt: performance.now() }
      this.#enter({ request, owner, isWanted, ...state, resolve, reject })
    })
  }

  #enter(read: Read): void {
    if (this.#forSlow !== undefined && this.#slowAgents.has(lineOf(read), performance.now())) this.#forSlow.#enter(read)
    else this.#add(read)
  }

  #add(read: Read): void {
    const line = read.isQuick ? this.#quick : this.#waiting
    line.add(read.owner, read)
    this.#next()
    this.#watch()
  }

  close(): void {
    this.#closed = true
    this.#forSlow?.close()
    const left = [...this.#sent.splice(0), ...this.#first.splice(0)]
    for (const line of [this.#quick, this.#waiting])
      for (let read = line.next(); read !== undefined; read = line.next()) left.push(read)
    this.#rest()
    for (const { reject } of left) reject(new ReaderClosed())
  }

  #next(): void {
    if (this.#closed) return
    // The next document is chosen only when there is room.
    if (this.#sent.length > 0 && !this.#sent[0]!.isQuick) return
    for (let read = this.#takeNext(); read !== undefined; read = this.#takeNext()) {
      if (!this.#hasRoom(read)) {
        this.#first.unshift(read)
        return
      }
      this.#send(read)
    }
    if (this.#sent.length > 0) return
    clearTimeout(this.#timer)
    if ((this.#process ?? this.#spare) !== undefined) this.#timer = setTimeout(() => this.#rest(), IDLE_MS).unref()
  }

  #takeNext(): Read | undefined {
    for (;;) {
      const [line, other] = this.#isQuickNext ? [this.#quick, this.#waiting] : [this.#waiting, this.#quick]
      const read = this.#first.shift() ?? this.#takeFrom(line) ?? this.#takeFrom(other)
      this.#isQuickNext = read?.isQuick !== true
      if (read === undefined || performance.now() - read.addedAt < ASK_EVERY_MS || read.isWanted()) return read
      read.reject(new ReaderClosed())
    }
  }

  #takeFrom(line: InTurn<Read>): Read | undefined {
    const owner = this.#used.least(line.owners(), performance.now())
    return owner === undefined ? undefined : line.takeFrom(owner)
  }

  /** Removes the current document, which is done or stopped, and records its time. */
  #takeSent(): Read | undefined {
    const read = this.#sent.shift()
    const now = performance.now()
    if (read !== undefined) this.#used.add(read.owner, Math.max(0, now - this.#since), now)
    return read
  }

  #hasRoom(read: Read): boolean {
    if (this.#sent.length === 0) return true
    if (read.isSuspect || this.#sent[0]!.isSuspect || this.#sent.length >= AHEAD) return false
    if (!read.isQuick) return false
    return this.#sent.reduce((sum, sent) => sum + sizeOf(sent), sizeOf(read)) <= AHEAD_BYTES
  }

  #send(read: Read): void {
    this.#sent.push(read)
    const process = this.#current()
    if (this.#sent.length === 1) this.#limitTime(process.isReady && (process.isLoaded || read.isQuick) ? 0 : START_MS)
    process.send(read.request)
  }

  /** Limits the time of the current document. */
  #limitTime(moreMs = 0): void {
    clearTimeout(this.#timer)
    this.#since = performance.now() + Math.min(moreMs, SLOW_START_MS)
    this.#cpuMs = 0
    this.#watch()
    const { timeoutMs } = this.#limits
    this.#timer = setTimeout(() => this.#giveUp(tooCostly(`more than ${timeoutMs / 1_000} seconds`)), timeoutMs + moreMs)
    clearInterval(this.#askTimer)
    this.#askTimer = setInterval(() => {
      if (this.#sent[0]?.isWanted() === false) this.#giveUp(new ReaderClosed())
    }, ASK_EVERY_MS).unref()
  }

  /** Stops the current document and continues with the next one. */
  #giveUp(reason: Error): void {
    this.#kill()
    const read = this.#takeSent()
    this.#takeBack()
    read?.reject(reason)
    this.#next()
  }

  /** Checks if the current document delays others for too long. */
  #watch(): void {
    clearTimeout(this.#slowTimer)
    if (this.#forSlow === undefined || this.#sent.length === 0) return
    const leftMs = this.#since + this.#slowMs - performance.now()
    const look = () => {
      const isSlow = this.#cpuMs >= this.#slowMs * SLOW_CPU || performance.now() - this.#since >= this.#slowMs * SLOWEST
      if (isSlow) this.#moveSlow()
      else this.#slowTimer = setTimeout(look, LOOK_AGAIN_MS).unref()
    }
    this.#slowTimer = setTimeout(look, Math.max(0, leftMs)).unref()
  }

  #moveSlow(): void {
    const isAlone = this.#sent.length === 1 && this.#first.length === 0 && this.#quick.isEmpty && this.#waiting.isEmpty
    const [slow] = this.#sent
    const forSlow = this.#forSlow
    if (slow === undefined || forSlow === undefined || isAlone || this.#closed) return
    this.#kill()
    this.#takeSent()
    this.#takeBack()
    this.#slowAgents.note(lineOf(slow), performance.now())
    this.#hasMoved = true
    forSlow.#enter(slow)
    this.#next()
  }

  /** Returns the process that reads next. */
  #current(): ReadingProcess {
    this.#process ??= this.#spare ?? this.#start(false)
    if (this.#process === this.#spare) this.#spare = undefined
    return this.#process
  }

  #start(isWarm: boolean): ReadingProcess {
    return new ReadingProcess({
      memoryMb: this.#limits.memoryMb,
      isWarm,
      answered: (process, answer) => this.#answered(process, answer),
      ended: (process, code, signal) => this.#lost(process, code, signal),
      failed: (process, error) => this.#failed(process, error),
    })
  }

  #answered(process: ReadingProcess, answer: ReadAnswer): void {
    if (process !== this.#process) return
    if ('cpuMs' in answer) {
      this.#cpuMs = answer.cpuMs
      return
    }
    if ('ready' in answer) {
      if (this.#sent.length > 0) this.#limitTime()
      return
    }
    const read = this.#takeSent()
    process.isLoaded ||= read?.isQuick === false
    if (this.#sent.length > 0) this.#limitTime()
    if ('result' in answer) read?.resolve(answer.result as never)
    else read?.reject(new DocumentError(answer.error.code, answer.error.message))
    this.#next()
    if (this.#hasMoved) this.#spare ??= this.#start(true)
  }

  /** Handles a process that could not be started. No document is to blame. */
  #failed(process: ReadingProcess, error: Error): void {
    if (process === this.#spare) this.#spare = undefined
    if (process !== this.#process) return
    this.#kill()
    for (const read of this.#sent.splice(0)) read.reject(error)
    this.#next()
  }

  #lost(process: ReadingProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (process === this.#spare) this.#spare = undefined
    if (process !== this.#process) return
    this.#kill()
    const [read] = this.#sent
    // Answers in transit are lost with the process, so any of several documents may be the cause. Earlier documents may also have filled the memory.
    if (read !== undefined && this.#sent.length === 1 && !process.isUsed && !this.#isPardoned(read, signal)) {
      this.#sent = []
      this.#slowAgents.note(lineOf(read), performance.now())
      read.reject(
        code === OUT_OF_MEMORY
          ? tooCostly(`more than ${this.#limits.memoryMb} MB of memory`)
          : new DocumentError('damaged', 'Reading the document broke off: it is damaged, or made to break programs.'),
      )
    } else for (const sent of this.#sent) sent.isSuspect = true
    this.#takeBack()
    this.#next()
  }

  /** Returns true for the first signal, which may come from elsewhere (a machine without memory). The second time, the document is to blame. */
  #isPardoned(read: Read, signal: NodeJS.Signals | null): boolean {
    if (signal === null || read.wasKilled) return false
    read.wasKilled = true
    return true
  }

  #takeBack(): void {
    this.#first.unshift(...this.#sent.splice(0))
  }

  #kill(): void {
    clearTimeout(this.#timer)
    clearInterval(this.#askTimer)
    this.#process?.kill()
    this.#process = undefined
  }

  /** Ends all processes until there is something to read. */
  #rest(): void {
    this.#kill()
    this.#spare?.kill()
    this.#spare = undefined
    this.#hasMoved = false
  }
}

function isQuick(content: Uint8Array): boolean {
  if (content.byteLength > QUICK_BYTES) return false
  return !BINARY.test(Buffer.from(content.subarray(0, QUICK_LOOK_BYTES)).toString('latin1'))
}

/** Returns the group in which slow documents are counted: an agent's small texts, or its other documents. */
const lineOf = ({ owner, isQuick }: Read): string => `${partOf(owner)} ${isQuick}`

const sizeOf = ({ request }: Read): number => request.input.content.byteLength

/** The service is stopping, or the document is no longer wanted. This is not an error of the document. */
export class ReaderClosed extends Error {
  override readonly name = 'ReaderClosed'
}

const tooCostly = (what: string) =>
  new DocumentError('too_costly', `Reading the document took ${what}. Send it in parts, or as text.`)
