import { useMutation } from '@tanstack/react-query'
import { useClient } from '../session/session.tsx'

/** Makes a token of a user, which nothing keeps but the page that shows it; for keys with the scope `chat`. */
export function useCreateToken(agentId: string) {
  const client = useClient()
  return useMutation({
    mutationFn: (externalUserId: string) => client.tokens.create(agentId, { externalUserId }),
    gcTime: 0,
  })
}
