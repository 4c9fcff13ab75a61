import type { Limits } from '../core/ports/limits.ts'
import { agentOperations } from './agents.ts'
import { auditOperations } from './audit.ts'
import { documentOperations } from './documents.ts'
import { insightOperations } from './insights.ts'
import { keyOperations } from './keys.ts'
import { messageOperations } from './messages.ts'
import { modelOperations } from './models.ts'
import { sessionOperations } from './sessions.ts'
import { sourceOperations } from './sources.ts'
import { tokenOperations } from './tokens.ts'
import { usageOperations } from './usage.ts'
import { userOperations } from './users.ts'
import { webhookOperations } from './webhooks.ts'

/** All operations of the API. The limits of a deployment are part of its contract. */
export const contract = (limits: Limits) => ({
  ...sessionOperations(limits),
  ...messageOperations(limits),
  ...agentOperations(limits),
  ...documentOperations(limits),
  ...sourceOperations(),
  ...insightOperations(),
  ...keyOperations(limits),
  ...tokenOperations(),
  ...userOperations(),
  ...usageOperations(),
  ...webhookOperations(),
  ...auditOperations(),
  ...modelOperations(),
})
export type Contract = ReturnType<typeof contract>
