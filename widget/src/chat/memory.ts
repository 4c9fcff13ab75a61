import type { ChatOptions } from '../options.ts'

interface Kept {
  /** The session that the conversation is. */
  session?: string | undefined
  /** A message that was sent, and of which nothing was heard yet. */
  unsent?: string | undefined
  isOpen?: boolean | undefined
}

/** What is found again after a reload: which session it was, and never what was said in it, but for a message that is on its way. */
export class Memory {
  readonly #key: string
  readonly #remember: ChatOptions['remember']
  #kept: Kept

  constructor(agentId: string, remember: ChatOptions['remember'] = 'tab') {
    this.#key = `repartee:${agentId}`
    this.#remember = remember
    this.#kept = remember === 'no' ? {} : { ...this.#read('sessionStorage'), ...(this.#isLong && this.#read('localStorage')) }
  }

  get #isLong(): boolean {
    return this.#remember === 'device'
  }

  get kept(): Readonly<Kept> {
    return this.#kept
  }

  keep(change: Kept): void {
    this.#kept = { ...this.#kept, ...change }
    if (this.#remember === 'no') return
    const { session, ...brief } = this.#kept
    if (this.#isLong) this.#write('localStorage', { session })
    this.#write('sessionStorage', this.#isLong ? brief : this.#kept)
  }

  #read(place: 'localStorage' | 'sessionStorage'): Kept {
    try {
      return JSON.parse(window[place].getItem(this.#key) ?? '{}')
    } catch {
      return {} // not allowed in this page, or not ours
    }
  }

  #write(place: 'localStorage' | 'sessionStorage', value: Kept): void {
    try {
      window[place].setItem(this.#key, JSON.stringify(value))
    } catch {
      // not allowed in this page, or full: it is forgotten with the page
    }
  }
}
