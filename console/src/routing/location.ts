import { useSyncExternalStore } from 'react'
import { navigate as go, usePathname } from 'wouter/use-browser-location'

/** A move that waits until the reader says whether what is not saved may go. */
interface Pending {
  leave(): void
}

let moves = 0
const guards = new Set<object>()
let pending: Pending | undefined
/** The place of this page in the history of the tab: how far, and which way, a step back or forth went. */
let place: number = history.state?.place ?? 0
let isLetThrough = false
const listeners = new Set<() => void>()

history.replaceState({ ...history.state, place }, '')

/** Whether the reader has moved since the console was opened: only then does the heading of a page take the focus. */
export const hasNavigated = () => moves > 0

function hold(move: Pending | undefined): void {
  pending = move
  for (const listener of listeners) listener()
}

type Options = { replace?: boolean; state?: unknown }

function move(to: string, options: Options = {}): void {
  moves++
  if (!options.replace) place++
  go(to, { ...options, state: { place } })
}

/** Goes to a page; where something there is not saved, once the reader has agreed. `to` holds the base, as wouter passes it. */
function navigate(to: string, options?: Options): void {
  const isHere = to.split(/[?#]/, 1)[0] === location.pathname
  if (guards.size === 0 || isHere) move(to, options)
  else hold({ leave: () => move(to, options) })
}

addEventListener('popstate', (event) => {
  const next: number = event.state?.place ?? 0
  const steps = next - place
  if (guards.size === 0 || isLetThrough || steps === 0) {
    isLetThrough = false
    place = next
    moves++
    return
  }
  // The address has changed already: back with it, and the router hears nothing of either.
  event.stopImmediatePropagation()
  addEventListener(
    'popstate',
    (back) => {
      back.stopImmediatePropagation()
      hold({
        leave() {
          isLetThrough = true
          history.go(steps)
        },
      })
    },
    { once: true, capture: true },
  )
  history.go(-steps)
})

addEventListener('beforeunload', (event) => {
  if (guards.size > 0) event.preventDefault()
})

/** Stands guard over a page with unsaved changes; the result takes the guard away. */
export function guard(): () => void {
  const own = {}
  guards.add(own)
  return () => void guards.delete(own)
}

/** For a page that has just saved what it guarded, and goes on at once. */
export const lowerGuards = () => guards.clear()

/** Does what leaves all pages, such as signing out; where something is not saved, once the reader has agreed. */
export function leaveBy(deed: () => void): void {
  if (guards.size === 0) deed()
  else hold({ leave: deed })
}

/** wouter's location, guarded. */
export const useGuardedLocation = (): [string, typeof navigate] => [usePathname(), navigate]

/** The move that waits for an answer, and how to give it. */
export function usePendingMove() {
  const move = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => pending,
  )
  return {
    isPending: move !== undefined,
    stay: () => hold(undefined),
    leave: () => {
      hold(undefined)
      lowerGuards()
      move?.leave()
    },
  }
}
