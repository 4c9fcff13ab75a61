/** One conversation thread between a user and an agent (specification 2.1). */
export interface Session {
  id: string
  agentId: string
  name: string
  /** The external user: the client's own identifier, or a generated one. */
  userId: string
  /** Messages and replies: the highest `seq`. Counts a message whose turn runs or failed. */
  totalMessages: number
  /** Never empty, because creating a session counts as activity. */
  lastMessageAt: number
  createdAt: number
  updatedAt: number
}
