import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { invalid, ReparteeError } from '../core/errors.ts'
import { nextSlice, thenRest } from '../core/fairness/pacer.ts'
import type { Statement } from '../store/database.ts'
import * as store from '../store/tables/idempotency.ts'
import type { TurnDeps } from './deps.ts'

/** A request that carries an Idempotency-Key. */
export interface RepeatableRequest {
  apiKeyId: string
  key: string
  /** Everything that makes two requests the same one. */
  parts: (string | Uint8Array)[]
  /** Empty where the request is not about an agent. */
  agentId: string
  /** The end user, where the answer goes with no session. If the user is erased, the answer is not kept. */
  userId?: string | undefined
  /** What was kept before this time counts as gone; left out: all that is kept holds. */
  keptSince?: number
}

/** The right to work on a request; whoever else comes with its key is told to wait. */
export interface RequestClaim extends store.Claimed {
  /** To be written in the transaction that makes a session before the effect. */
  noteSession(sessionId: string): Statement
  /** To be written in the transaction of the effect. */
  keep(keptWith: store.KeptWith, status: number, answer: string): Statement
  /** For the transactions of the effect, behind `keep` if that is in it: another replica may have taken the key while this process was paused. */
  readonly isOurs: Statement
  /** Frees the key where no answer was kept. */
  release(): Promise<void>
}

/** The answer to an earlier request with the same Idempotency-Key, as JSON text. */
export interface StoredAnswer {
  /** When its request came in. */
  createdAt: number
  status: number
  answer: string
}

const SLACK_MS = 60_000
/** A longer one takes milliseconds to send: others have their turn before each. */
const LONG_ANSWER_CHARS = 16_384
/** Hashed in one go: other requests are let in after each. */
const PIECE_BYTES = 4_194_304

function* piecesOf(part: string | Uint8Array): Generator<string | Uint8Array> {
  if (typeof part === 'string' || part.length <= PIECE_BYTES) yield part
  else for (let at = 0; at < part.length; at += PIECE_BYTES) yield part.subarray(at, at + PIECE_BYTES)
}

/** Throws `request_in_progress` where the same is being worked on, and `idempotency_mismatch` where the key was used for something else. */
export async function claimRequest(deps: TurnDeps, request: RepeatableRequest): Promise<RequestClaim | StoredAnswer> {
  const { db, clock, limits, peers } = deps
  const now = clock()
  const hash = createHash('sha256')
  for (const part of request.parts) {
    for (const piece of piecesOf(part)) {
      if (piece !== part) await nextTurn()
      hash.update(piece)
    }
    hash.update('\0')
  }
  const claim: store.ClaimRow = {
    apiKeyId: request.apiKeyId,
    keyHash: createHash('sha256').update(request.key).digest('hex'),
    fingerprint: hash.digest('hex'),
    agentId: request.agentId,
    userId: request.userId ?? '',
    claim: peers.ownId(),
    claimedUntil: now + limits.maxWaitMs + limits.turnTimeoutMs + SLACK_MS,
    createdAt: now,
  }
  const kept = await store.claimKey(db, claim, request.keptSince ?? now - limits.keepAnswersMs).catch((error: unknown) => {
    // It may be written, and only its answer lost.
    void release(deps, claim)
    throw error
  })
  if ('begunSessionId' in kept) {
    return {
      begunSessionId: kept.begunSessionId,
      noteSession: (sessionId) => store.noteSession(claim, sessionId),
      keep: (keptWith, status, answer) => store.keepAnswer(claim, keptWith, status, answer),
      isOurs: store.isClaimed(claim),
      release: () => release(deps, claim),
    }
  }
  if (kept.fingerprint !== claim.fingerprint) {
    throw new ReparteeError('idempotency_mismatch', 'This Idempotency-Key was used before with another request.')
  }
  if (kept.answer === null || kept.status === null) {
    throw inProgress()
  }
  if (kept.answer.length > LONG_ANSWER_CHARS) await nextSlice(request.apiKeyId)
  return { createdAt: kept.createdAt, status: kept.status, answer: kept.answer }
}

export const inProgress = (): ReparteeError =>
  new ReparteeError('request_in_progress', 'The request with this Idempotency-Key is still being worked on.', { retryAfter: 1 })

const RELEASE_AGAIN_MS = 1_000

/** Frees a key whose request came to nothing. Where the store cannot do it, as on a full disk, it is tried again until the claim lapses. */
async function release(deps: TurnDeps, claim: store.ClaimRow, isAgain = false): Promise<void> {
  try {
    await store.releaseClaim(deps.db, claim)
  } catch (error) {
    if (!isAgain) deps.warn('an Idempotency-Key could not be freed yet', error)
    if (deps.clock() > claim.claimedUntil) return
    setTimeout(() => release(deps, claim, true), RELEASE_AGAIN_MS).unref()
  }
}

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

/** Reads the header: 1 to 255 visible characters; a quoted string (as the IETF draft has it) means what is in it. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const text = typeof header === 'string' ? header : header.join(',')
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text
  if (!KEY.test(key)) throw invalid('header.Idempotency-Key', 'must be 1 to 255 visible ASCII characters')
  return key
}

/** Forgets what was kept for long enough, a slice at a time. */
export async function forgetOldAnswers(deps: TurnDeps): Promise<void> {
  const before = deps.clock() - deps.limits.keepAnswersMs
  await store.releaseLapsedClaims(deps.db, deps.clock())
  await inSlices(() => store.forgetAnswers(deps.db, before))
}

/** Resolves to whether there were any. */
export async function forgetAnswersOfUser({ db }: Pick<TurnDeps, 'db'>, agentId: string, userId: string): Promise<boolean> {
  const forgotten = await inSlices(() => store.forgetAnswersOf(db, agentId, userId))
  if (forgotten > 0) db.scrub()
  return forgotten > 0
}

/** Forgets until nothing is left. Resolves to the number. */
async function inSlices(forget: () => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const forgotten = await thenRest(forget)
    if (forgotten === 0) return total
    total += forgotten
  }
}
