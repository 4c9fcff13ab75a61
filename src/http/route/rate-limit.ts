import type { FastifyReply } from 'fastify'
import { type Rate, type RateStanding, type Rates, WINDOW_MS } from '../../access/rates.ts'
import { ReparteeError } from '../../core/errors.ts'

const OVER: Record<keyof Rates, string> = {
  key: 'This key makes too many requests.',
  user: 'This user sends too many messages.',
  address: 'Too many keys that are no good come from this address.',
}

/** Counts requests against a rate, and reports it in the response (RateLimit header fields for HTTP, draft 10). Throws `rate_limited`. */
export async function takeRate(reply: FastifyReply, name: 'key' | 'user', rate: Rate, id: string, count = 1): Promise<void> {
  let standing: RateStanding
  let left = count
  do {
    const taken = rate.take(id)
    standing = taken instanceof Promise ? await taken : taken
  } while (--left > 0 && !standing.isOver)
  append(reply, 'RateLimit-Policy', `"${name}";q=${standing.limit};w=${WINDOW_MS / 1_000}`)
  append(reply, 'RateLimit', `"${name}";r=${standing.remaining};t=${secondsOf(standing)}`)
  if (standing.isOver) throw limited(name, standing)
}

/** Counts an invalid key. Throws `rate_limited`. */
export async function takeAddressRate(rate: Rate, address: string): Promise<void> {
  const standing = await rate.take(address)
  if (standing.isOver) throw limited('address', standing)
}

/** Adds the headers for a daily token budget that is used up. */
export function addQuotaHeaders(
  reply: FastifyReply,
  { name, tokens }: { name: string; tokens: number },
  retryAfter: number,
): void {
  append(reply, 'RateLimit-Policy', `"${name}-tokens";q=${tokens};qu="tokens";w=86400`)
  append(reply, 'RateLimit', `"${name}-tokens";r=0;t=${retryAfter}`)
}

const secondsOf = ({ resetMs }: RateStanding): number => Math.max(1, Math.ceil(resetMs / 1_000))

const limited = (name: keyof Rates, standing: RateStanding): ReparteeError =>
  new ReparteeError('rate_limited', OVER[name], { retryAfter: secondsOf(standing) })

function append({ raw }: FastifyReply, name: string, value: string): void {
  const before = raw.getHeader(name)
  raw.setHeader(name, before === undefined ? value : `${before as string}, ${value}`)
}
