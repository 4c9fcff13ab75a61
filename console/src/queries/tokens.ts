import { useMutation } from '@tanstack/react-query'
import { useClient } from '../session/session.tsx'

/** Creates a token for a user, without caching it. Needs the scope `chat`. */
export function useCreateToken(agentId: string) {
  const client = useClient()
  return useMutation({
    mutationFn: (externalUserId: string) => client.tokens.create({ agentId, externalUserId }),
    gcTime: 0,
  })
}
