import { type Client, type HttpAnswer, ServiceError } from '../client.ts'

export type ChatExchange = HttpAnswer<'sendMessage'>

/** One conversation at a time with an agent. The session is created with the first question, so that opening the chat leaves no session. */
export class Conversation {
  readonly #client: Client
  readonly #agentId: string
  readonly #starters: string[]
  #sessionId: string | undefined
  #last: ChatExchange | undefined

  constructor(client: Client, agentId: string, starters: string[]) {
    this.#client = client
    this.#agentId = agentId
    this.#starters = starters
  }

  startAnew(): void {
    this.#sessionId = undefined
    this.#last = undefined
  }

  /** The sources of the last reply. */
  get sources(): NonNullable<ChatExchange['sources']> {
    return this.#last?.sources ?? []
  }

  /** The suggested follow-ups of the last reply, or the agent's starters before the first one. */
  get offers(): string[] {
    return this.#last === undefined ? this.#starters : (this.#last.followUps ?? []).map(({ text }) => text)
  }

  /** Returns the question of an input line. The number of a suggestion selects it. */
  toQuestion(line: string): string {
    return (/^\d{1,2}$/.test(line) ? this.offers[Number(line) - 1] : undefined) ?? line
  }

  async ask(message: string, signal: AbortSignal): Promise<ChatExchange> {
    this.#sessionId ??= await this.#open(signal)
    const path = `/agents/${this.#agentId}/sessions/${this.#sessionId}/messages`
    try {
      const body = { message, include: ['sources'] }
      this.#last = await this.#client.call<'sendMessage'>('POST', path, { body, signal })
      return this.#last
    } catch (error) {
      // The session was deleted, so the next question opens another.
      if (error instanceof ServiceError && error.code === 'session_not_found') this.startAnew()
      throw error
    }
  }

  async #open(signal: AbortSignal): Promise<string> {
    const path = `/agents/${this.#agentId}/sessions`
    return (await this.#client.call<'createSession'>('POST', path, { body: {}, signal })).session.id
  }
}
