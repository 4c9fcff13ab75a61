import { useEffect, useMemo, useReducer, useRef, useSyncExternalStore } from 'react'
import { Conversation, type ConversationState, type Repartee } from 'repartee-client'
import { useLocation, useSearch } from 'wouter'
import { useClient } from '../../session/session.tsx'
import { Pace } from '../../ui/pace.ts'

/** The last conversation with each agent. It continues while other pages are shown, and the reader can return to it. */
const held = new WeakMap<Repartee, Map<string, Conversation>>()
const opened = new WeakSet<Conversation>()

function heldBy(client: Repartee): Map<string, Conversation> {
  const own = held.get(client) ?? new Map<string, Conversation>()
  held.set(client, own)
  return own
}

const newConversation = (client: Repartee, agentId: string, sessionId?: string) =>
  new Conversation(client.connection, {
    agentId,
    sessionId,
    include: ['sources', 'usage', 'trace'],
    reconnects: Number.POSITIVE_INFINITY,
  })

/** The conversation in the address. If there is none: the last conversation of this tab, or a new one. */
export function useConversation(agentId: string, sessionId: string | undefined) {
  const client = useClient()
  const [, navigate] = useLocation()
  const asks = useSearch() !== ''
  const home = `/agents/${agentId}/playground`
  const current = useRef<{ conversation: Conversation; address: string | undefined; number: number }>(undefined)
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  const before = current.current
  const isShown = (shown: Conversation) => shown.getState().sessionId === sessionId
  if (before === undefined) {
    const last = heldBy(client).get(agentId)
    const isLast = last !== undefined && (sessionId === undefined ? !asks : isShown(last))
    const conversation = isLast ? last : newConversation(client, agentId, sessionId)
    current.current = { conversation, address: sessionId, number: 0 }
  } else if (before.address !== sessionId) {
    const next = { conversation: newConversation(client, agentId, sessionId), number: before.number + 1 }
    current.current = { ...before, ...(isShown(before.conversation) ? {} : next), address: sessionId }
  }
  const { conversation, number } = current.current!
  heldBy(client).set(agentId, conversation)
  useEffect(() => {
    if (!opened.has(conversation)) void conversation.open()
    opened.add(conversation)
  }, [conversation])
  const state = usePacedState(conversation)
  useEffect(() => {
    // The address must name a session that was just created, also after a return from another page.
    if (state.sessionId !== undefined && state.sessionId !== sessionId) navigate(`${home}/${state.sessionId}`, { replace: true })
  }, [sessionId, state.sessionId, navigate, home])
  const renew = () => {
    current.current = { conversation: newConversation(client, agentId), address: undefined, number: number + 1 }
    navigate(home)
    redraw()
  }
  return { conversation, number, state, renew }
}

/** Returns the state of a conversation. While a reply grows, the state changes only as often as the page can render it. */
function usePacedState(conversation: Conversation): ConversationState {
  const paced = useMemo(() => {
    let shown = conversation.getState()
    const subscribe = (listener: () => void) => {
      const show = () => {
        shown = conversation.getState()
        listener()
      }
      let pace = new Pace(show)
      shown = conversation.getState()
      return conversation.subscribe(() => {
        const { status, isBroken, isStopping } = conversation.getState()
        if (status === 'streaming' && isBroken === shown.isBroken && isStopping === shown.isStopping) return pace.want()
        // The next text does not wait for the rest of this one.
        pace.rest()
        pace = new Pace(show)
        show()
      })
    }
    return { subscribe, getState: () => shown }
  }, [conversation])
  return useSyncExternalStore(paced.subscribe, paced.getState)
}
