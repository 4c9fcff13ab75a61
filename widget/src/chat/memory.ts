import type { ChatOptions } from '../options.ts'

interface Kept {
  /** The id of the session. */
  session?: string | undefined
  /** A message that was sent and not yet confirmed. */
  unsent?: string | undefined
  isOpen?: boolean | undefined
}

/** Shared by all tabs of a device. */
const SHARED = 'localStorage'

/** State that survives a reload: the session id, but no message text except a message that is being sent. */
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
    // If the session did not change here, another tab may have a newer value.
    if (this.#isLong && 'session' in change) this.#write(SHARED, { session, at: Date.now() })
    this.#write('sessionStorage', this.#isLong ? brief : this.#kept)
  }

  /** Calls back when another tab continues the conversation or starts another one. Returns a function that stops this. */
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
      return {} // storage is not allowed in this page, or the value is not ours
    }
  }

  #write(place: 'localStorage' | 'sessionStorage', value: Kept & { at?: number }): void {
    try {
      window[place].setItem(this.#key, JSON.stringify(value))
    } catch {
      // Storage is not allowed in this page, or full. The state is lost with the page.
    }
  }
}
