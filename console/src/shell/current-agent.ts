import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'

const AGENT = /^\/agents\/([0-9a-f]{8}-[0-9a-f-]{27})(?:\/|$)/i

let last: string | undefined

/** The agent of the page, or the one that was looked at last. */
export function useCurrentAgentId(): string | undefined {
  const [path] = useLocation()
  const named = AGENT.exec(path)?.[1]?.toLowerCase()
  const [remembered, remember] = useState(last)
  useEffect(() => {
    if (named === undefined) return
    last = named
    remember(named)
  }, [named])
  return named ?? remembered
}

/** One that was deleted is not remembered. */
export function forgetAgent(agentId: string): void {
  if (last === agentId) last = undefined
}
