import { useEffect } from 'react'
import { LinkButton } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Page } from '../ui/page.tsx'
import { Loading, Skeleton } from '../ui/skeleton.tsx'
import { useForgetAgent } from './current-agent.ts'
import { useShellTexts } from './texts.ts'

/** Where an address leads nowhere. */
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

/** Where the key may not do what a page is for. */
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

/** Where an agent was deleted, or never was. */
export function NoAgent({ agentId }: { agentId: string }) {
  const texts = useShellTexts()
  const forget = useForgetAgent()
  // Once the address names another, nothing leads back here.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when it is left
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

/** The place of a page whose code is on its way. */
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
