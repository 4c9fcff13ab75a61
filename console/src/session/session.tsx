import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { Repartee } from 'repartee-client'
import { isUnauthorized } from '../queries/errors.ts'
import { type Rights, readRights } from './rights.ts'

/** The storage key. The API key is stored only if the reader asks for it. It is removed when the tab is closed or they sign out. */
const STORED = 'repartee.key'

// The browser may forbid storage: a reload then asks for the key again.
function storedKey(): string | undefined {
  try {
    return sessionStorage.getItem(STORED) ?? undefined
  } catch {
    return undefined
  }
}

function storeKey(key: string | undefined): void {
  try {
    if (key === undefined) sessionStorage.removeItem(STORED)
    else sessionStorage.setItem(STORED, key)
  } catch {
    // the key lasts until the page is left
  }
}

/** The API key of a client. It can be replaced after it was refused; pending requests then continue with the new key. */
class Keyring {
  #key: string
  #given: string | undefined
  /** Called for every response that refuses the key. */
  onRefused: () => void = () => {}

  constructor(key: string) {
    this.#key = key
  }

  change(key: string): void {
    this.#key = key
  }

  /** The client calls this once, and again each time the service refuses the key. */
  readonly get = (): string => {
    if (this.#given === this.#key) this.onRefused()
    this.#given = this.#key
    return this.#key
  }
}

export interface SignedIn {
  client: Repartee
  keyring: Keyring
  rights: Rights
  /** The first 8 characters of the key, which are not secret. */
  prefix: string
}

type State =
  /** The stored key of this tab is being checked. With `error`, the check failed because the service did not respond. */
  | { is: 'opening'; error?: unknown }
  | { is: 'out' }
  | { is: 'in'; session: SignedIn }
  /** The key was refused while signed in: the page keeps its state under a dialog that asks for another key. */
  | { is: 'refused'; session: SignedIn }

interface SessionValue {
  state: State
  /** Throws the error of the service if the key is invalid. */
  signIn(key: string, isKept: boolean): Promise<void>
  signOut(): void
  /** Checks the stored key of this tab again. */
  reopen(): void
}

const SessionContext = createContext<SessionValue | undefined>(undefined)

const ADDRESS = { baseUrl: '/v1', maxRetries: 2 }

/** Checks a key, then gives it to the client of `before` or to a new client. Throws the error of the service if the key is invalid. */
async function open(key: string, before?: SignedIn): Promise<SignedIn> {
  const rights = await readRights(new Repartee({ ...ADDRESS, key }))
  const prefix = key.slice(0, 8)
  if (before !== undefined) {
    before.keyring.change(key)
    return { ...before, rights, prefix }
  }
  const keyring = new Keyring(key)
  return { client: new Repartee({ ...ADDRESS, token: keyring.get }), keyring, rights, prefix }
}

/** Provides the signed-in session. The key lives only in the client, unless the reader asks to store it. */
export function SessionProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const [state, setState] = useState<State>(() => (storedKey() === undefined ? { is: 'out' } : { is: 'opening' }))
  const isOpening = useRef(false)

  const enter = useCallback((session: SignedIn) => {
    session.keyring.onRefused = () => {
      storeKey(undefined)
      setState((now) => (now.is === 'in' ? { is: 'refused', session: now.session } : now))
    }
    setState({ is: 'in', session })
  }, [])

  const reopen = useCallback(() => {
    const key = storedKey()
    if (key === undefined || isOpening.current) return
    isOpening.current = true
    setState({ is: 'opening' })
    open(key)
      .then(enter, (error) => {
        if (isUnauthorized(error)) storeKey(undefined)
        setState(isUnauthorized(error) ? { is: 'out' } : { is: 'opening', error })
      })
      .finally(() => {
        isOpening.current = false
      })
  }, [enter])
  useEffect(reopen, [reopen])

  const before = state.is === 'refused' ? state.session : undefined
  const signIn = useCallback(
    async (key: string, isKept: boolean) => {
      enter(await open(key, before))
      storeKey(isKept ? key : undefined)
      if (before === undefined) return
      // Refetch everything: another key may see other data.
      queries.removeQueries({ type: 'inactive' })
      await queries.invalidateQueries()
    },
    [queries, enter, before],
  )
  const signOut = useCallback(() => {
    storeKey(undefined)
    queries.clear()
    setState({ is: 'out' })
  }, [queries])

  const value = useMemo(() => ({ state, signIn, signOut, reopen }), [state, signIn, signOut, reopen])
  return <SessionContext value={value}>{children}</SessionContext>
}

export function useSession(): SessionValue {
  const value = useContext(SessionContext)
  if (value === undefined) throw new Error('There is no SessionProvider above.')
  return value
}

/** Returns the signed-in session. Only for components below the shell, which is mounted only after sign-in. */
export function useSignedIn(): SignedIn {
  const { state } = useSession()
  if (state.is !== 'in' && state.is !== 'refused') throw new Error('Nobody is signed in.')
  return state.session
}

export const useClient = (): Repartee => useSignedIn().client
export const useRights = (): Rights => useSignedIn().rights
