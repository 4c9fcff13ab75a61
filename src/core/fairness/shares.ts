import { callerIdOf } from '../api-key.ts'

/** The owner of a share: a key or one of its users, or an agent or one of its keys. */
export interface Sharer {
  id: string
  /** A user or key within it. */
  userId?: string | undefined
}

/**
 * Divides a limited amount, such as memory, among keys. A key may take as much as remains free, so some is always left for other keys.
 * The users of a key divide its part in the same way, because a key can create any number of users.
 */
export class Shares {
  readonly #all: number
  readonly #most: 'half' | 'two thirds'
  #free: number
  readonly #held = new Map<string, Held>()

  /** `most`: the part that one sharer may take while no other has a share. */
  constructor(all: number, most: 'half' | 'two thirds' = 'half') {
    this.#all = all
    this.#free = all
    this.#most = most
  }

  get isUntouched(): boolean {
    return this.#free === this.#all
  }

  get hasRoom(): boolean {
    return this.#free > 0
  }

  mayHave({ id, userId }: Sharer, amount: number): boolean {
    const held = this.#held.get(id)
    const left = this.#leftFor(held?.amount ?? 0, amount)
    return amount <= left && (userId === undefined || (held?.ofUsers.get(userId) ?? 0) + amount <= left)
  }

  #leftFor(held: number, amount: number): number {
    return this.#most === 'half' || held === 0 ? this.#free - held : 2 * (this.#free - amount) - held
  }

  take(sharer: Sharer, amount: number): void {
    this.#add(sharer, amount)
  }

  give(sharer: Sharer, amount: number): void {
    this.#add(sharer, -amount)
  }

  #add({ id, userId }: Sharer, amount: number): void {
    this.#free -= amount
    let held = this.#held.get(id)
    if (held === undefined) {
      held = { amount: 0, ofUsers: new Map() }
      this.#held.set(id, held)
    }
    held.amount += amount
    if (held.amount === 0) this.#held.delete(id)
    if (userId === undefined) return
    const ofUser = (held.ofUsers.get(userId) ?? 0) + amount
    if (ofUser === 0) held.ofUsers.delete(userId)
    else held.ofUsers.set(userId, ofUser)
  }
}

interface Held {
  amount: number
  ofUsers: Map<string, number>
}

/** A caller, and the agent that it calls, if known. */
export interface Asker {
  caller: Sharer
  agentId: string | undefined
}

/**
 * Divides a limited amount among callers and among agents. A tenant may have one key for many agents, or many keys for one agent.
 * A key may take half of what no others take. An agent may take two thirds, so that its other keys get a share too.
 */
export class TenantShares {
  readonly #ofCallers: Shares
  readonly #ofAgents: Shares

  constructor(all: number) {
    this.#ofCallers = new Shares(all)
    this.#ofAgents = new Shares(all, 'two thirds')
  }

  get isUntouched(): boolean {
    return this.#ofCallers.isUntouched
  }

  mayHave({ caller, agentId }: Asker, amount: number): boolean {
    const mayCaller = this.#ofCallers.mayHave(caller, amount)
    return mayCaller && (agentId === undefined || this.#ofAgents.mayHave(withinAgent(agentId, caller), amount))
  }

  take(asker: Asker, amount: number): void {
    this.#add(asker, amount)
  }

  give(asker: Asker, amount: number): void {
    this.#add(asker, -amount)
  }

  #add({ caller, agentId }: Asker, amount: number): void {
    this.#ofCallers.take(caller, amount)
    if (agentId !== undefined) this.#ofAgents.take(withinAgent(agentId, caller), amount)
  }
}

const withinAgent = (agentId: string, caller: Sharer): Sharer => ({ id: agentId, userId: callerIdOf(caller) })
