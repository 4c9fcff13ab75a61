/** One conversation thread between a user and an agent (specification 2.1). */
export interface Session {
  id: string
  agentId: string
  name: string
  /** The external user: the client's own identifier, or one made here. */
  userId: string
  totalMessages: number
  /** Creating a session is activity, so this is never empty. */
  lastMessageAt: number
  createdAt: number
  updatedAt: number
}
