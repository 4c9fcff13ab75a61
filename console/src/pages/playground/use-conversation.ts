import { useEffect, useReducer, useRef, useSyncExternalStore } from 'react'
import type { Repartee } from 'repartee-client'
import { useLocation, useSearch } from 'wouter'
import { useClient } from '../../session/session.tsx'
import { Conversation } from './conversation.ts'

/** The last conversation with each agent, so that the reader can return to it from other pages. */
const held = new WeakMap<Repartee, Map<string, Conversation>>()

function heldBy(client: Repartee): Map<string, Conversation> {
  const own = held.get(client) ?? new Map<string, Conversation>()
  held.set(client, own)
  return own
}

/** The conversation in the address. If there is none: the last conversation of this tab, or a new one. */
export function useConversation(agentId: string, sessionId: string | undefined) {
  const client = useClient()
  const [, navigate] = useLocation()
  const asks = useSearch() !== ''
  const home = `/agents/${agentId}/playground`
  const current = useRef<{ conversation: Conversation; address: string | undefined }>(undefined)
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  const before = current.current
  if (before === undefined) {
    const last = heldBy(client).get(agentId)
    const isLast = last !== undefined && (sessionId === undefined ? !asks : last.sessionId === sessionId)
    current.current = { conversation: isLast ? last : new Conversation(client, agentId, sessionId), address: sessionId }
  } else if (before.address !== sessionId) {
    const isSame = before.conversation.sessionId === sessionId
    current.current = {
      conversation: isSame ? before.conversation : new Conversation(client, agentId, sessionId),
      address: sessionId,
    }
  }
  const { conversation } = current.current!
  heldBy(client).set(agentId, conversation)
  useEffect(() => {
    void conversation.open()
    conversation.onSession = (id) => navigate(`${home}/${id}`, { replace: true })
    return () => {
      conversation.onSession = () => {}
    }
  }, [conversation, navigate, home])
  useEffect(() => {
    // After a return from another page, the address must name the session.
    if (sessionId === undefined && conversation.sessionId !== undefined)
      navigate(`${home}/${conversation.sessionId}`, { replace: true })
  }, [sessionId, conversation, navigate, home])
  const renew = () => {
    current.current = { conversation: new Conversation(client, agentId), address: undefined }
    navigate(home)
    redraw()
  }
  return { conversation, talk: useSyncExternalStore(conversation.subscribe, conversation.snapshot), renew }
}
