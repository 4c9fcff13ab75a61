import { useQueries } from '@tanstack/react-query'
import type { Agent, Session } from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'

export interface RecentSession extends Session {
  agent: Agent
}

/** The sessions of several agents with the latest activity, merged into one list. */
export function useRecentSessions(agents: readonly Agent[], most: number) {
  const client = useClient()
  return useQueries({
    queries: agents.map((agent) => ({
      queryKey: keyOf.of(agent.id, 'sessions', 'recent', most),
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const { sessions } = await client.sessions.list({ agentId: agent.id, limit: most }, { signal })
        return sessions.map((session): RecentSession => ({ ...session, agent }))
      },
    })),
    combine: (answers) => ({
      isPending: answers.some(({ isPending }) => isPending),
      error: answers.find(({ error }) => error !== null)?.error,
      sessions: answers
        .flatMap(({ data }) => data ?? [])
        .sort((a, b) => b.lastMessageAt.localeCompare(a.lastMessageAt))
        .slice(0, most),
    }),
  })
}
