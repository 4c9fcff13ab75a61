import { useSyncExternalStore } from 'react'
import { navigate as go, usePathname } from 'wouter/use-browser-location'

/** A navigation that waits for the reader to confirm that unsaved changes may be lost. */
interface Pending {
  leave(): void
}

let moves = 0
const guards = new Set<object>()
let pending: Pending | undefined
/** Position of this page in the history of the tab. It gives the direction and the number of steps of a `popstate`. */
let place: number = history.state?.place ?? 0
let isLetThrough = false
const listeners = new Set<() => void>()

history.replaceState({ ...history.state, place }, '')

/** Whether the reader has navigated since the console was opened. The heading of a page takes the focus only then. */
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

/** Navigates to a page; asks first if there are unsaved changes. `to` includes the base, as wouter passes it. */
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
  // The address has changed already: go back, and hide both events from the router.
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

/** Registers a guard for a page with unsaved changes; returns a function that removes it. */
export function guard(): () => void {
  const own = {}
  guards.add(own)
  return () => void guards.delete(own)
}

/** Removes all guards, for a page that has just saved its changes and navigates at once. */
export const lowerGuards = () => guards.clear()

/** Runs an action that leaves all pages, e.g. signing out; asks first if there are unsaved changes. */
export function leaveBy(deed: () => void): void {
  if (guards.size === 0) deed()
  else hold({ leave: deed })
}

/** wouter's location hook with leave guards. */
export const useGuardedLocation = (): [string, typeof navigate] => [usePathname(), navigate]

/** Returns whether a navigation waits for confirmation, and functions that cancel or confirm it. */
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
