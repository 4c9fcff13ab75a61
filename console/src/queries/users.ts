import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { User } from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'
import { usePages } from './pages.ts'

export type { User }

const PAGE = 50
const NIBBLES = 32

/** Returns the id right before the first id with this prefix. Users are listed by id, so a list from there starts with the matches. */
function placeBefore(digits: string): string | undefined {
  const first = BigInt(`0x${digits.padEnd(NIBBLES, '0')}`)
  if (first === 0n) return undefined
  const before = (first - 1n).toString(16).padStart(NIBBLES, '0')
  return before.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Returns the hexadecimal digits of a partly typed id; undefined if no id can start with them. */
export const digitsOf = (text: string): string | undefined => {
  const digits = text.trim().toLowerCase().replaceAll('-', '')
  return /^[0-9a-f]{0,32}$/.test(digits) ? digits : undefined
}

/** The end users of an agent, ordered by id, paginated. With `digits`, only users whose id starts with them. */
export function useUsers(agentId: string, digits: string) {
  const client = useClient()
  const fits = ({ externalUserId }: User) => externalUserId.replaceAll('-', '').startsWith(digits)
  const { rows, ...query } = usePages({
    queryKey: keyOf.of(agentId, 'users', digits),
    read: (cursor, signal) => client.users.list({ agentId, limit: PAGE, cursor }, { signal }),
    rowsOf: (page) => page.users.filter(fits),
    initialPageParam: digits === '' ? undefined : placeBefore(digits),
    // Users are ordered by id: after the first one that does not match, no other one matches.
    getNextPageParam: ({ pagination, users }) => (users.every(fits) ? (pagination.nextCursor ?? undefined) : undefined),
  })
  return { ...query, users: rows }
}

/** Erases all data of a user; resolves to the number of conversations erased. */
export function useEraseUser(agentId: string) {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (externalUserId: string) => (await client.users.erase({ agentId, externalUserId })).sessions,
    onSuccess: () =>
      Promise.all(
        ['users', 'sessions', 'insights'].map((noun) => queries.invalidateQueries({ queryKey: keyOf.of(agentId, noun) })),
      ),
  })
}

/** Returns a function that resolves to all data of a user, as JSON Lines. */
export function useUserExport(agentId: string) {
  const client = useClient()
  return async (externalUserId: string): Promise<Blob> => {
    const lines: string[] = []
    for await (const line of client.users.export({ agentId, externalUserId })) lines.push(`${JSON.stringify(line)}\n`)
    return new Blob(lines)
  }
}
