import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { User } from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'
import { usePages } from './pages.ts'

export type { User }

const PAGE = 50
const NIBBLES = 32

/** The id right before the first that begins so: users are listed by their ids, so that a list from there begins with those looked for. */
function placeBefore(digits: string): string | undefined {
  const first = BigInt(`0x${digits.padEnd(NIBBLES, '0')}`)
  if (first === 0n) return undefined
  const before = (first - 1n).toString(16).padStart(NIBBLES, '0')
  return before.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** What of an id was typed, as its digits; undefined where no id begins so. */
export const digitsOf = (text: string): string | undefined => {
  const digits = text.trim().toLowerCase().replaceAll('-', '')
  return /^[0-9a-f]{0,32}$/.test(digits) ? digits : undefined
}

/** The end users of an agent, by their ids, page by page; with `digits` those whose ids begin so. */
export function useUsers(agentId: string, digits: string) {
  const client = useClient()
  const fits = ({ externalUserId }: User) => externalUserId.replaceAll('-', '').startsWith(digits)
  const { rows, ...query } = usePages({
    queryKey: keyOf.of(agentId, 'users', digits),
    read: (cursor, signal) => client.users.list(agentId, { limit: PAGE, cursor }, { signal }),
    rowsOf: (page) => page.users.filter(fits),
    initialPageParam: digits === '' ? undefined : placeBefore(digits),
    // Behind the first that does not fit there is none that does.
    getNextPageParam: ({ pagination, users }) => (users.every(fits) ? (pagination.nextCursor ?? undefined) : undefined),
  })
  return { ...query, users: rows }
}

/** Erases all that is kept of a user; resolves to how many conversations that was. */
export function useEraseUser(agentId: string) {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (externalUserId: string) => (await client.users.erase(agentId, externalUserId)).sessions,
    onSuccess: () =>
      Promise.all(
        ['users', 'sessions', 'insights'].map((noun) => queries.invalidateQueries({ queryKey: keyOf.of(agentId, noun) })),
      ),
  })
}

/** All that is kept of a user, as JSON Lines. */
export function useUserExport(agentId: string) {
  const client = useClient()
  return async (externalUserId: string): Promise<Blob> => {
    const lines: string[] = []
    for await (const line of client.users.export(agentId, externalUserId)) lines.push(`${JSON.stringify(line)}\n`)
    return new Blob(lines)
  }
}
