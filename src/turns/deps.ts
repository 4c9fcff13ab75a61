import type { AgentCache } from '../agents/agent-cache.ts'
import type { Background } from '../events/background.ts'
import type { WebhookCache } from '../events/webhook-cache.ts'
import type { ReplyDeps } from '../reply/deps.ts'
import type { Peers } from './peers.ts'
import type { Turns } from './turns.ts'

export interface TurnDeps extends ReplyDeps {
  turns: Turns
  peers: Peers
  agents: AgentCache
  webhooks: WebhookCache
  background: Background
}
