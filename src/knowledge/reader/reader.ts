import { DocumentError } from '../../core/document-error.ts'
import { InTurn, partOf } from '../../core/fairness/in-turn.ts'
import { SlowOwners } from '../../core/fairness/slow-owners.ts'
import { TurnShares } from '../../core/fairness/turn-shares.ts'
import { OUT_OF_MEMORY, type ReadAnswer, type ReadRequest, type Reads } from './protocol.ts'
import { ReadingProcess } from './reading-process.ts'

/** What reading one document may take. */
export interface ReadLimits {
  timeoutMs: number
  /** Resident, of the whole process; without a document it takes about 80. */
  memoryMb: number
}

export const READ_LIMITS: ReadLimits = { timeoutMs: 30_000, memoryMb: 512 }

/** A process that has nothing to read for so long ends. */
const IDLE_MS = 10_000
/** The first read of a process waits for its start, and the first that is no small text for more code, which a busy machine makes long. */
const START_MS = 30_000

/** A document that takes longer is read elsewhere while others wait. */
const SLOW_MS = 500
/** Unless it had less processor time, as a part of that: then it is the machine that is busy. */
const SLOW_CPU = 0.5
/** So many times as long is too long in any case. */
const SLOWEST = 4
/** The time between two reports of the process about its processor time. */
const LOOK_AGAIN_MS = 100
/** Whether a document is still wanted is asked so often while it is read, and when it has waited for longer. */
const ASK_EVERY_MS = 1_000
/** How long that may keep others waiting. */
const SLOW_START_MS = 2_000
/** Texts up to this size take milliseconds. */
const QUICK_BYTES = 65_536
const QUICK_LOOK_BYTES = 1_024
const BINARY = /^PK|%PDF|\0/
/** Slow documents that take longer are read in yet another process. */
const VERY_SLOW_MS = 5_000

/** So much is sent ahead, or small documents would wait for the way there and back. */
const AHEAD = 32
const AHEAD_BYTES = 1_048_576

/** Reads documents in processes: small texts in one, other documents in another, and what turns out to be slow in others again. */
export class DocumentReaders {
  readonly #texts: DocumentReader
  readonly #others: DocumentReader

  constructor(limits: ReadLimits = READ_LIMITS) {
    const forSlow = new DocumentReader(limits, new DocumentReader(limits), VERY_SLOW_MS)
    this.#texts = new DocumentReader(limits, forSlow)
    this.#others = new DocumentReader(limits, forSlow)
  }

  /** As that of `DocumentReader`. */
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
  /** A small text. Others do not keep it waiting. */
  isQuick: boolean
  /** A process ended while this document was with it. */
  isSuspect: boolean
  /** A process was ended by a signal over it alone. */
  wasKilled: boolean
  resolve: (result: never) => void
  reject: (error: unknown) => void
}

/**
 * Reads documents in a process of its own, started when needed: a hostile or broken file can take nothing with it. One document at a time is read, and a few
 * small ones wait in the process. When it ends, each of those is sent alone, and is to blame only where the process has read nothing else. A slow document for
 * which others wait is moved to another reader, and read there from its beginning. So is, at once, every document of an agent that had too many that were slow
 * or ended the process; small texts and other documents are counted apart. They also take turns here. Of each, the key that had the least time lately comes
 * next, and of its agents the one that had the least.
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
  /** Comes before all others: what had no room, and what an ended process left. */
  #first: Read[] = []
  /** With the process, which answers in this order. */
  #sent: Read[] = []
  #process: ReadingProcess | undefined
  /** Takes over when the process is ended over a slow document: others do not wait for the start of a new one. Started after the first such document. */
  #spare: ReadingProcess | undefined
  #hasMoved = false
  #timer: NodeJS.Timeout | undefined
  /** When the document that is read now began, and the processor time that it has taken. */
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

  /** Rejects with `DocumentError`, with what kept its process from starting, or with `ReaderClosed`, also when it is no longer wanted. */
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
    // Who comes next is decided when there is room.
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

  /** The document that was read now is done, or is given up. */
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

  /** Of the document that is read now. */
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

  /** Reads on with the next document. */
  #giveUp(reason: Error): void {
    this.#kill()
    const read = this.#takeSent()
    this.#takeBack()
    read?.reject(reason)
    this.#next()
  }

  /** Looks whether the document that is read now holds up others for too long. */
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

  /** It could not be started, for which no document is to blame. */
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
    // Answers that were on their way are lost with the process, so that of several any may be the cause. Or the memory was full of what was read before.
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

  /** Perhaps it was ended by somebody else, such as a machine without memory: the second time it is the document. */
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

/** Names the documents that count together when slow ones are counted: an agent's small texts, or its other documents. */
const lineOf = ({ owner, isQuick }: Read): string => `${partOf(owner)} ${isQuick}`

const sizeOf = ({ request }: Read): number => request.input.content.byteLength

/** The service is going down, or the document is no longer wanted: nothing is said about it. */
export class ReaderClosed extends Error {
  override readonly name = 'ReaderClosed'
}

const tooCostly = (what: string) =>
  new DocumentError('too_costly', `Reading the document took ${what}. Send it in parts, or as text.`)
