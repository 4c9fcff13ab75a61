import './parts.css'
import { useAgentNames } from '../../queries/agents.ts'
import { Badge } from '../../ui/badge.tsx'
import { usePartTexts } from './texts.ts'

const SHOWN = 2

/** Names of agents; null means all agents. */
export function AgentNames({ agentIds }: { agentIds: readonly string[] | null }) {
  const texts = usePartTexts().agents
  const names = useAgentNames(agentIds?.slice(0, SHOWN) ?? [])
  if (agentIds === null) return <span className="muted">{texts.all}</span>
  return (
    <span className="parts-agents">
      {agentIds.slice(0, SHOWN).map((id) => (
        <span key={id} className="parts-agent as-written" title={names.get(id) ?? id}>
          {names.get(id) ?? <code dir="ltr">{id.slice(0, 8)}…</code>}
        </span>
      ))}
      {agentIds.length > SHOWN && <Badge>{texts.more(agentIds.length - SHOWN)}</Badge>}
    </span>
  )
}
