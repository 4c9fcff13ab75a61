import { useEffect, useSyncExternalStore } from 'react'
import type { Repartee } from 'repartee-client'
import { useLocation } from 'wouter'
import { useClient } from '../session/session.tsx'

const AGENT = /^\/agents\/([0-9a-f]{8}-[0-9a-f-]{27})(?:\/|$)/i

/** The agent that was looked at last, by who is signed in: another key may not see it. */
const last = new WeakMap<Repartee, string>()
const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function remember(client: Repartee, agentId: string | undefined): void {
  if (agentId === undefined) last.delete(client)
  else last.set(client, agentId)
  for (const listener of listeners) listener()
}

/** The agent of the page, or the one that was looked at last. */
export function useCurrentAgentId(): string | undefined {
  const client = useClient()
  const [path] = useLocation()
  const named = AGENT.exec(path)?.[1]?.toLowerCase()
  const remembered = useSyncExternalStore(subscribe, () => last.get(client))
  useEffect(() => {
    if (named !== undefined && last.get(client) !== named) remember(client, named)
  }, [client, named])
  return named ?? remembered
}

/** For an agent that was deleted, or is not there: nothing leads to it any more. */
export function useForgetAgent(): (agentId: string) => void {
  const client = useClient()
  return (agentId) => {
    if (last.get(client) === agentId) remember(client, undefined)
  }
}
