import { useEffect } from 'react'
import { LinkButton } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Page } from '../ui/page.tsx'
import { Loading, Skeleton } from '../ui/skeleton.tsx'
import { useForgetAgent } from './current-agent.ts'
import { useShellTexts } from './texts.ts'

/** Shown if no page has this address. */
export function NotFound() {
  const texts = useShellTexts().notFound
  return (
    <Page title={texts.title}>
      <Card>
        <EmptyState icon="search" title={texts.title} actions={<LinkButton href="/">{texts.home}</LinkButton>}>
          {texts.text}
        </EmptyState>
      </Card>
    </Page>
  )
}

/** Shown if the key does not have the scope of the page. */
export function NotAllowed({ scope }: { scope: string }) {
  const texts = useShellTexts()
  return (
    <Page title={texts.notAllowed.title}>
      <Card>
        <EmptyState icon="lock" title={texts.notAllowed.title} actions={<LinkButton href="/">{texts.notFound.home}</LinkButton>}>
          {texts.notAllowed.text(scope)}
        </EmptyState>
      </Card>
    </Page>
  )
}

/** Shown if the agent was deleted or never existed. */
export function NoAgent({ agentId }: { agentId: string }) {
  const texts = useShellTexts()
  const forget = useForgetAgent()
  // After the reader leaves, the navigation must not link to this agent.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs on unmount
  useEffect(() => () => forget(agentId), [agentId])
  return (
    <Page title={texts.noAgent.title}>
      <Card>
        <EmptyState
          icon="agents"
          title={texts.noAgent.title}
          actions={<LinkButton href="/agents">{texts.agents.all}</LinkButton>}
        >
          {texts.noAgent.text}
        </EmptyState>
      </Card>
    </Page>
  )
}

/** Placeholder for a page whose code is loading. */
export const PageLoading = () => (
  <Loading>
    <div className="page">
      <header className="page-head">
        <div className="page-words">
          <div className="page-title">
            <Skeleton width={12} />
          </div>
        </div>
      </header>
      <div className="card page-loading">
        <Skeleton width={60} lines={5} />
      </div>
    </div>
  </Loading>
)
