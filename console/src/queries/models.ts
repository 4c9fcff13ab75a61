import { useQuery } from '@tanstack/react-query'
import { useClient, useRights } from '../session/session.tsx'
import { keyOf } from './client.ts'

const FRESH_MS = 300_000

/** The models that this deployment can use. Needs the scope `admin`. */
export function useModels() {
  const client = useClient()
  const rights = useRights()
  return useQuery({
    queryKey: keyOf.models,
    queryFn: async ({ signal }) => (await client.models.list({ signal })).models,
    staleTime: FRESH_MS,
    enabled: rights.can('admin'),
  })
}
