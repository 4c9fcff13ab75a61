import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { Repartee } from 'repartee-client'
import { isUnauthorized } from '../queries/errors.ts'
import { type Rights, readRights } from './rights.ts'

/** Only where the reader asked for it: the key stays in this tab, until the tab or the session in it is ended. */
const STORED = 'repartee.key'

export interface SignedIn {
  client: Repartee
  rights: Rights
  /** The first characters of the key, which are not secret. */
  prefix: string
}

type State =
  | { is: 'opening' }
  | { is: 'out' }
  | { is: 'in'; session: SignedIn }
  /** The key was refused in the middle of the work: the page stays as it is, under the question for another. */
  | { is: 'refused'; session: SignedIn }

interface SessionValue {
  state: State
  /** Throws what the service says of the key. */
  signIn(key: string, isKept: boolean): Promise<void>
  signOut(): void
  /** Tells of an answer that refused the key. */
  refuse(): void
}

const SessionContext = createContext<SessionValue | undefined>(undefined)

const clientOf = (key: string) => new Repartee({ baseUrl: '/v1', key, maxRetries: 2 })

async function open(key: string): Promise<SignedIn> {
  const client = clientOf(key)
  const rights = await readRights(client)
  return { client, rights, prefix: key.slice(0, 8) }
}

/** Holds who is signed in. The key lives in the client alone, and nowhere else unless the reader asked for it. */
export function SessionProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const [state, setState] = useState<State>(() => (sessionStorage.getItem(STORED) === null ? { is: 'out' } : { is: 'opening' }))
  const isOpened = useRef(false)

  useEffect(() => {
    const key = sessionStorage.getItem(STORED)
    if (key === null || isOpened.current) return
    isOpened.current = true
    open(key).then(
      (session) => setState({ is: 'in', session }),
      (error) => {
        if (isUnauthorized(error)) sessionStorage.removeItem(STORED)
        setState({ is: 'out' })
      },
    )
  }, [])

  const signIn = useCallback(
    async (key: string, isKept: boolean) => {
      const session = await open(key)
      if (isKept) sessionStorage.setItem(STORED, key)
      else sessionStorage.removeItem(STORED)
      // What was asked with the key before must not refuse the new one.
      await queries.cancelQueries()
      queries.removeQueries({ type: 'inactive' })
      setState({ is: 'in', session })
    },
    [queries],
  )
  const signOut = useCallback(() => {
    sessionStorage.removeItem(STORED)
    queries.clear()
    setState({ is: 'out' })
  }, [queries])
  const refuse = useCallback(() => {
    sessionStorage.removeItem(STORED)
    setState((now) => (now.is === 'in' ? { is: 'refused', session: now.session } : now))
  }, [])

  // What a page shows is asked for anew, under the new key: once its questions hold the new client.
  const session = state.is === 'in' ? state.session : undefined
  useEffect(() => {
    if (session !== undefined) void queries.invalidateQueries()
  }, [queries, session])

  useEffect(() => {
    const watch = (error: unknown) => isUnauthorized(error) && refuse()
    const stops = [
      queries.getQueryCache().subscribe((event) => {
        if (event.type === 'updated' && event.action.type === 'error') watch(event.action.error)
      }),
      queries.getMutationCache().subscribe((event) => {
        if (event.type === 'updated' && event.action.type === 'error') watch(event.action.error)
      }),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }, [queries, refuse])

  const value = useMemo(() => ({ state, signIn, signOut, refuse }), [state, signIn, signOut, refuse])
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
