import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { RouterProvider } from 'react-aria-components'
import { Router, useLocation, useRouter } from 'wouter'
import { newQueryClient } from './queries/client.ts'
import { useGuardedLocation } from './routing/location.ts'
import { SessionProvider, useSession } from './session/session.tsx'
import { ErrorBoundary } from './shell/error-boundary.tsx'
import { Shell } from './shell/shell.tsx'
import { SignIn } from './shell/sign-in.tsx'
import { useShellTexts } from './shell/texts.ts'
import { LocaleProvider } from './texts/locale.tsx'
import { ErrorNote } from './ui/error-note.tsx'
import { Spinner } from './ui/progress.tsx'
import { Toasts } from './ui/toast.tsx'

/** The path under which the service serves the console. */
const BASE = '/console'

export function App() {
  const [queries] = useState(newQueryClient)
  return (
    <QueryClientProvider client={queries}>
      <LocaleProvider>
        <Router base={BASE} hook={useGuardedLocation}>
          <LinksOfComponents>
            <SessionProvider>
              <ErrorBoundary>
                <Door />
              </ErrorBoundary>
              <Toasts />
            </SessionProvider>
          </LinksOfComponents>
        </Router>
      </LocaleProvider>
    </QueryClientProvider>
  )
}

/** Makes links of React Aria navigate within the console, like links of wouter. */
function LinksOfComponents({ children }: { children: ReactNode }) {
  const [, navigate] = useLocation()
  const { base } = useRouter()
  return (
    <RouterProvider navigate={(to) => navigate(to)} useHref={(href) => (href.startsWith('/') ? base + href : href)}>
      {children}
    </RouterProvider>
  )
}

/** Shows the shell if signed in, otherwise the sign-in page. */
function Door() {
  const { state } = useSession()
  if (state.is === 'out') return <SignIn />
  if (state.is === 'opening') return <Opening error={state.error} />
  return <Shell />
}

/** Shown while the stored key is checked. If the service does not respond, the check is repeated when the connection is back. */
function Opening({ error }: { error: unknown }) {
  const texts = useShellTexts().signIn
  const { reopen } = useSession()
  useEffect(() => {
    addEventListener('online', reopen)
    return () => removeEventListener('online', reopen)
  }, [reopen])
  useEffect(() => {
    document.title = 'Repartee'
  }, [])
  return (
    <main className="opening">
      <h1 className="hidden-visually">{texts.opening}</h1>
      {error === undefined ? <Spinner size={22} /> : <ErrorNote error={error} onRetry={reopen} />}
    </main>
  )
}
