import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { Repartee } from 'repartee-client'
import { isUnauthorized } from '../queries/errors.ts'
import { type Rights, readRights } from './rights.ts'

/** Only where the reader asked for it: the key stays in this tab, until the tab or the session in it is ended. */
const STORED = 'repartee.key'

// Storage may be forbidden altogether: then a reload asks for the key again.
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
    // it holds until the page is left
  }
}

/** The key that a client works with: it may take the place of one that was refused, and all that is under way goes on with it. */
class Keyring {
  #key: string
  #given: string | undefined
  /** Told of every answer that refused the key. */
  onRefused: () => void = () => {}

  constructor(key: string) {
    this.#key = key
  }

  change(key: string): void {
    this.#key = key
  }

  /** The client asks for the key once, and for another when the service has refused it. */
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
  /** The first characters of the key, which are not secret. */
  prefix: string
}

type State =
  /** The key of this tab is tried; with an error: nobody has answered. */
  | { is: 'opening'; error?: unknown }
  | { is: 'out' }
  | { is: 'in'; session: SignedIn }
  /** The key was refused in the middle of the work: the page stays as it is, under the question for another. */
  | { is: 'refused'; session: SignedIn }

interface SessionValue {
  state: State
  /** Throws what the service says of the key. */
  signIn(key: string, isKept: boolean): Promise<void>
  signOut(): void
  /** Tries the key of this tab once more. */
  reopen(): void
}

const SessionContext = createContext<SessionValue | undefined>(undefined)

const ADDRESS = { baseUrl: '/v1', maxRetries: 2 }

/** Tries a key, and takes it for a client that there is already, or for a new one. Throws what the service says of it. */
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

/** Holds who is signed in. The key lives in the client alone, and nowhere else unless the reader asked for it. */
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
      // What a page shows is asked for anew: another key may see other things.
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

/** Who is signed in; for everything below the shell, which is there only then. */
export function useSignedIn(): SignedIn {
  const { state } = useSession()
  if (state.is !== 'in' && state.is !== 'refused') throw new Error('Nobody is signed in.')
  return state.session
}

export const useClient = (): Repartee => useSignedIn().client
export const useRights = (): Rights => useSignedIn().rights
