import './conversations.css'
import './messages.css'
import './sources.css'
import './details.css'
import { useRoute } from 'wouter'
import type { PageProps } from '../../routing/routes.tsx'
import { Conversation } from './conversation.tsx'
import { ConversationList } from './list.tsx'
import { SideList } from './side-list.tsx'

/** All conversations of an agent, or one of them; on a wide screen the list is next to it. */
export default function ConversationsPage({ agentId }: PageProps) {
  const [isOne, params] = useRoute('/agents/:agentId/conversations/:sessionId')
  if (!isOne) return <ConversationList agentId={agentId} />
  const sessionId = params.sessionId.toLowerCase()
  return (
    <div className="conversations-split">
      <SideList agentId={agentId} sessionId={sessionId} />
      <Conversation key={sessionId} agentId={agentId} sessionId={sessionId} />
    </div>
  )
}
