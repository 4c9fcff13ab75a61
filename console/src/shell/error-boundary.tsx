import { Component, type ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Page } from '../ui/page.tsx'
import { useShellTexts } from './texts.ts'

/** Keeps a page that fails from taking the shell with it. A new `key` gives the next page a new chance. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {}

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    return this.state.error === undefined ? this.props.children : <Crashed error={this.state.error} />
  }
}

/** The files of a console that was replaced while it was open are gone. */
const isOutdated = (error: unknown) => /dynamically imported module|Importing a module|preload CSS/i.test(String(error))

function Crashed({ error }: { error: unknown }) {
  const texts = useShellTexts()
  const { title, text } = isOutdated(error) ? texts.outdated : texts.crashed
  const reload = (
    <Button icon="refresh" look="primary" onPress={() => location.reload()}>
      {texts.crashed.reload}
    </Button>
  )
  return (
    <Page title={title}>
      <Card>
        <EmptyState icon="warning" title={title} actions={reload}>
          {text}
        </EmptyState>
        {!isOutdated(error) && <p className="muted mono">{String(error)}</p>}
      </Card>
    </Page>
  )
}
