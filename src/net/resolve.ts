import { lookup as dnsLookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'

/** Returns the addresses of a name. Rejects with the code `ENOTFOUND` if it has none. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<string[]>

/** Uses the system resolver, which also reads the hosts file. Only for names that the operator chose: a name without an answer occupies a thread. */
export const resolveBySystem: Resolve = (name) =>
  new Promise((resolve, reject) => {
    dnsLookup(name, { all: true }, (error, found) => (error === null ? resolve(found.map((one) => one.address)) : reject(error)))
  })

const LOOPBACK = ['127.0.0.1', '::1']
/** Timeout of one query in milliseconds, and the number of queries. */
const ANSWER_WITHIN_MS = 2_000
const TRIES = 2
/** Total timeout. A server may answer for one address family and never for the other. */
const TIMEOUT_MS = 5_000
/** The name has no address of this kind. */
const NONE = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Queries the machine's DNS servers without a thread: libuv shares few threads among all system lookups, so two names without an answer
 * would block calls to model providers. Reads no hosts file. `servers` replaces the machine's servers.
 */
export function dnsResolver({ servers, timeoutMs = TIMEOUT_MS }: { servers?: string[]; timeoutMs?: number } = {}): Resolve {
  return async (name, signal) => {
    if (/(?:^|\.)localhost\.?$/.test(name)) return LOOPBACK
    // One resolver per name: it reads the machine's servers when it is created, and can be cancelled alone.
    const resolver = new Resolver({ timeout: ANSWER_WITHIN_MS, tries: TRIES })
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    const timer = setTimeout(cancel, timeoutMs)
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
      const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
      if (addresses.length === 0) throw reasonOf(answers)
      return addresses
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
    }
  }
}

export const resolveByDns = dnsResolver()

/** A name is unknown only if no answer failed in another way. */
function reasonOf(answers: PromiseSettledResult<string[]>[]): NodeJS.ErrnoException {
  const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as NodeJS.ErrnoException] : []))
  const failure = reasons.find(({ code = '' }) => !NONE.has(code))
  return failure ?? Object.assign(new Error('The name has no address.', { cause: reasons[0] }), { code: 'ENOTFOUND' })
}
