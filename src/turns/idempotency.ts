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
  /** The parts of the request that are hashed to compare requests. */
  parts: (string | Uint8Array)[]
  /** Empty if the request is not about an agent. */
  agentId: string
  /** The end user, if the response belongs to no session. The response is deleted when this user is erased. */
  userId?: string | undefined
  /** Responses stored before this time count as expired. Defaults to the retention period. */
  keptSince?: number
}

/** The claim on an Idempotency-Key. Other requests with the same key are asked to wait. */
export interface RequestClaim extends store.Claimed {
  /** Returns a statement for the transaction that creates a session, if that comes before the effect. */
  noteSession(sessionId: string): Statement
  /** Returns a statement that stores the response, for the transaction of the effect. */
  keep(keptWith: store.AnswerOwner, status: number, answer: string): Statement
  /** A condition for the effect's transactions, after `keep` if present: another replica may have taken the key while this process was paused. */
  readonly isOurs: Statement
  /** Releases the key if no response was stored. */
  release(): Promise<void>
}

/** The stored response to an earlier request with the same Idempotency-Key, as JSON text. */
export interface StoredAnswer {
  /** When the earlier request arrived. */
  createdAt: number
  status: number
  answer: string
}

const SLACK_MS = 60_000
/** A longer response takes milliseconds to send, so other requests run before each. */
const LONG_ANSWER_CHARS = 16_384
/** The size hashed in one go. Other requests run after each piece. */
const PIECE_BYTES = 4_194_304

function* piecesOf(part: string | Uint8Array): Generator<string | Uint8Array> {
  if (typeof part === 'string' || part.length <= PIECE_BYTES) yield part
  else for (let at = 0; at < part.length; at += PIECE_BYTES) yield part.subarray(at, at + PIECE_BYTES)
}

/** Throws `request_in_progress` if the same request is running, and `idempotency_mismatch` if the key was used for another request. */
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
    // The claim may have been written, and only the acknowledgement lost.
    void release(deps, claim)
    throw error
  })
  if ('begunSessionId' in kept) {
    return {
      begunSessionId: kept.begunSessionId,
      noteSession: (sessionId) => store.noteSession(claim, sessionId),
      keep: (keptWith, status, answer) => store.storeAnswer(claim, keptWith, status, answer),
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

/** Releases the key of a failed request. If the store fails, for example because the disk is full, it retries until the claim expires. */
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

/** Reads the header: 1 to 255 visible characters. Unquotes a quoted string, as in the IETF draft. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const text = typeof header === 'string' ? header : header.join(',')
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text
  if (!KEY.test(key)) throw invalid('header.Idempotency-Key', 'must be 1 to 255 visible ASCII characters')
  return key
}

/** Deletes expired responses, in slices. */
export async function forgetOldAnswers(deps: TurnDeps): Promise<void> {
  const before = deps.clock() - deps.limits.keepAnswersMs
  await store.releaseLapsedClaims(deps.db, deps.clock())
  await inSlices(() => store.forgetAnswers(deps.db, before))
}

/** Deletes the stored responses of a user. Resolves to true if there were any. */
export async function forgetAnswersOfUser({ db }: Pick<TurnDeps, 'db'>, agentId: string, userId: string): Promise<boolean> {
  const forgotten = await inSlices(() => store.forgetAnswersOf(db, agentId, userId))
  if (forgotten > 0) db.scrub()
  return forgotten > 0
}

/** Deletes until nothing remains. Resolves to the number of deleted responses. */
async function inSlices(forget: () => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const forgotten = await thenRest(forget)
    if (forgotten === 0) return total
    total += forgotten
  }
}
