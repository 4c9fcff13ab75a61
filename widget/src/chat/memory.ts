import type { ChatOptions } from '../options.ts'

interface Kept {
  /** The session that the conversation is. */
  session?: string | undefined
  /** A message that was sent, and of which nothing was heard yet. */
  unsent?: string | undefined
  isOpen?: boolean | undefined
}

/** What the tabs of a device have in common. */
const SHARED = 'localStorage'

/** What is found again after a reload: which session it was, and never what was said in it, but for a message that is on its way. */
export class Memory {
  readonly #key: string
  readonly #remember: ChatOptions['remember']
  #kept: Kept

  constructor(agentId: string, remember: ChatOptions['remember'] = 'tab') {
    this.#key = `repartee:${agentId}`
    this.#remember = remember
    this.#kept = remember === 'no' ? {} : { ...this.#read('sessionStorage'), ...(this.#isLong && this.#read(SHARED)) }
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
    // Where nothing is new of it, another tab may know better.
    if (this.#isLong && 'session' in change) this.#write(SHARED, { session, at: Date.now() })
    this.#write('sessionStorage', this.#isLong ? brief : this.#kept)
  }

  /** Tells when another tab has gone on with the conversation, or begun another. Returns what ends that. */
  watch(onChange: () => void): () => void {
    const hear = ({ key, storageArea }: StorageEvent) => {
      if (!this.#isLong || key !== this.#key || storageArea !== window.localStorage) return
      this.#kept = { ...this.#kept, session: this.#read(SHARED).session }
      onChange()
    }
    addEventListener('storage', hear)
    return () => removeEventListener('storage', hear)
  }

  #read(place: 'localStorage' | 'sessionStorage'): Kept {
    try {
      return JSON.parse(window[place].getItem(this.#key) ?? '{}')
    } catch {
      return {} // not allowed in this page, or not ours
    }
  }

  #write(place: 'localStorage' | 'sessionStorage', value: Kept & { at?: number }): void {
    try {
      window[place].setItem(this.#key, JSON.stringify(value))
    } catch {
      // not allowed in this page, or full: it is forgotten with the page
    }
  }
}
