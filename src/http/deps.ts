import type { AccessDeps } from '../access/deps.ts'
import type { Rates } from '../access/rates.ts'
import type { AgentDeps } from '../agents/deps.ts'
import type { EventDeps } from '../events/deps.ts'
import type { SessionDeps } from '../sessions/deps.ts'
import type { TurnDeps } from '../turns/deps.ts'

interface HttpDeps {
  /** Undefined if no rate is limited. */
  rates: Rates | undefined
}

/** Dependencies that the routes pass to the layers below. Created once, in app.ts. */
export type Deps = HttpDeps & AccessDeps & AgentDeps & EventDeps & SessionDeps & TurnDeps
