import { type DetailedHTMLProps, type HTMLAttributes, useEffect, useState, useSyncExternalStore } from 'react'
import type { Repartee } from './client.ts'
import { Conversation } from './conversation.ts'
import type { ConversationOptions, ConversationState } from './conversation-state.ts'
import type { CitedSource, FollowUp } from './types.ts'
import type { ChatAttributes, ChatElement, ChatOptions } from './widget.ts'

export interface SessionOptions extends ConversationOptions {
  /** Create the client once, outside the component. Another client starts another conversation. */
  client: Repartee
}

export interface SessionView
  extends ConversationState,
    Pick<Conversation, 'send' | 'retry' | 'stop' | 'regenerate' | 'rate' | 'loadDetails'> {
  /** Suggested follow-ups of the last reply. */
  followUps: readonly FollowUp[]
  /** Sources that the last reply cites. */
  sources: readonly CitedSource[]
}

const NONE: readonly never[] = []

/**
 * Returns a session with its messages, the growing reply and the actions. Without `sessionId`, the first message creates a session.
 * Passing the new session's id later does not restart the conversation. A turn that is running at page load is resumed.
 */
export function useSession(options: SessionOptions): SessionView {
  const conversation = useConversation(options)
  useEffect(() => {
    void conversation.open()
    return () => conversation.close()
  }, [conversation])
  const state = useSyncExternalStore(conversation.subscribe, conversation.getState, conversation.getState)
  const last = state.messages.at(-1)
  const { send, retry, stop, regenerate, rate, loadDetails } = conversation
  const actions = { send, retry, stop, regenerate, rate, loadDetails }
  return { ...state, ...actions, followUps: last?.followUps ?? NONE, sources: last?.sources ?? NONE }
}

function useConversation({ client, ...options }: SessionOptions): Conversation {
  const { agentId, sessionId } = options
  const make = () => ({ client, agentId, sessionId, conversation: new Conversation(client.connection, options) })
  const [held, hold] = useState(make)
  if (held.client === client && held.agentId === agentId && held.sessionId === sessionId) return held.conversation
  const isOwn = sessionId !== undefined && held.conversation.getState().sessionId === sessionId
  const next = isOwn && held.client === client && held.agentId === agentId ? { ...held, sessionId } : make()
  hold(next)
  return next.conversation
}

/** Props of `<repartee-chat>` in JSX. React 19 and newer set `options` as an object. */
export interface ChatElementProps
  extends ChatAttributes,
    Omit<DetailedHTMLProps<HTMLAttributes<ChatElement>, ChatElement>, keyof ChatAttributes> {
  options?: Partial<ChatOptions> | undefined
  /** Shows a button in the corner that opens the chat, instead of the chat itself. */
  floating?: boolean | undefined
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'repartee-chat': ChatElementProps
    }
  }
}
