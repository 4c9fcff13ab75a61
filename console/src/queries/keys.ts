import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { CreateKeyInput, Key } from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'
import { usePages } from './pages.ts'

export type { CreateKeyInput, Key }

const PAGE = 50

/** All keys, newest first, paginated. Needs the scope `admin`. */
export function useKeys() {
  const client = useClient()
  const { rows, ...query } = usePages({
    queryKey: keyOf.keys,
    read: (cursor, signal) => client.keys.list({ limit: PAGE, cursor }, { signal }),
    rowsOf: (page) => page.keys,
  })
  return { ...query, keys: rows }
}

/** The usage of a key's budget today; null if the key has no budget. */
export function useKeyUsage({ id, budget }: Key) {
  const client = useClient()
  return useQuery({
    queryKey: keyOf.keyUsage(id),
    queryFn: async ({ signal }) => (await client.keys.usage({ keyId: id }, { signal })).usage,
    enabled: budget !== undefined,
  })
}

export function useCreateKey() {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (input: CreateKeyInput) => client.keys.create(input),
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf.keys }),
    // The response contains the secret: it is dropped when the dialog that shows it closes.
    gcTime: 0,
  })
}

export function useRollKey() {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ keyId, overlapSeconds }: { keyId: string; overlapSeconds: number }) =>
      client.keys.roll({ keyId, overlapSeconds }),
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf.keys }),
    gcTime: 0,
  })
}

export function useRevokeKey() {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (keyId: string) => client.keys.delete({ keyId }),
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf.keys, exact: true }),
  })
}
