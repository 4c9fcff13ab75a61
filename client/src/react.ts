import { type DetailedHTMLProps, type HTMLAttributes, useEffect, useState, useSyncExternalStore } from 'react'
import type { Repartee } from './client.ts'
import { Conversation, type ConversationOptions, type ConversationState } from './conversation.ts'
import type { CitedSource, FollowUp } from './types.ts'
import type { ChatAttributes, ChatElement, ChatOptions } from './widget.ts'

export interface SessionOptions extends ConversationOptions {
  /** Made once, outside of the component. Another client is another conversation. */
  client: Repartee
}

export interface SessionView extends ConversationState, Pick<Conversation, 'send' | 'stop' | 'regenerate' | 'rate'> {
  /** Questions to go on with, of the last reply. */
  followUps: readonly FollowUp[]
  /** What the last reply cites. */
  sources: readonly CitedSource[]
}

const NONE: readonly never[] = []

/**
 * A session with its messages, the reply as it grows, and what can be done. Without `sessionId` a session is made with the first message;
 * it is the same conversation still when its id is passed in from then on. A turn that is running when the page is loaded is taken up.
 */
export function useSession(options: SessionOptions): SessionView {
  const conversation = useConversation(options)
  useEffect(() => {
    conversation.open()
    return () => conversation.close()
  }, [conversation])
  const state = useSyncExternalStore(conversation.subscribe, conversation.getState, conversation.getState)
  const last = state.messages.at(-1)
  const { send, stop, regenerate, rate } = conversation
  return { ...state, send, stop, regenerate, rate, followUps: last?.followUps ?? NONE, sources: last?.sources ?? NONE }
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

/** `<repartee-chat>` in JSX. `options` is set as an object by React 19 and newer. */
export interface ChatElementProps
  extends ChatAttributes,
    Omit<DetailedHTMLProps<HTMLAttributes<ChatElement>, ChatElement>, keyof ChatAttributes> {
  options?: Partial<ChatOptions> | undefined
  /** A button in the corner that opens the chat, and not the chat itself. */
  floating?: boolean | undefined
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'repartee-chat': ChatElementProps
    }
  }
}
