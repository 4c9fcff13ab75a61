import { Suspense } from 'react'
import { Route, Switch } from 'wouter'
import { useAgent } from '../queries/agents.ts'
import { isNotFound } from '../queries/errors.ts'
import { useRights } from '../session/session.tsx'
import { ErrorBoundary } from '../shell/error-boundary.tsx'
import { NoAgent, NotAllowed, NotFound, PageLoading } from '../shell/states.tsx'
import { type PageRoute, routes } from './routes.tsx'

/** Renders the page of the current address. */
export function Pages() {
  return (
    <Switch>
      {routes.map((route) => (
        <Route key={route.path} path={route.path}>
          {(params: Record<string, string | undefined>) => (
            <OnePage route={route} agentId={params['agentId']?.toLowerCase() ?? ''} />
          )}
        </Route>
      ))}
      <Route>
        <NotFound />
      </Route>
    </Switch>
  )
}

function OnePage({ route, agentId }: { route: PageRoute; agentId: string }) {
  const { Page, needs, path } = route
  const rights = useRights()
  const { error } = useAgent(isUuid(agentId) ? agentId : undefined)
  if (needs !== undefined && !rights.can(needs)) return <NotAllowed scope={needs} />
  if (agentId !== '' && (isNotFound(error) || !isUuid(agentId))) return <NoAgent agentId={agentId} />
  return (
    // Another agent gets a new page: the state of a page belongs to one agent.
    <ErrorBoundary key={`${path} ${agentId}`}>
      <Suspense fallback={<PageLoading />}>
        <Page agentId={agentId} />
      </Suspense>
    </ErrorBoundary>
  )
}

const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
