import { useEffect, useSyncExternalStore } from 'react'
import type { Repartee } from 'repartee-client'
import { useLocation } from 'wouter'
import { useClient } from '../session/session.tsx'

const AGENT = /^\/agents\/([0-9a-f]{8}-[0-9a-f-]{27})(?:\/|$)/i

/** The last visited agent, by client: another key may not be allowed to see it. */
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

/** Returns the agent of the page, or the last visited one. */
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

/** Removes a deleted or missing agent from the navigation. */
export function useForgetAgent(): (agentId: string) => void {
  const client = useClient()
  return (agentId) => {
    if (last.get(client) === agentId) remember(client, undefined)
  }
}
