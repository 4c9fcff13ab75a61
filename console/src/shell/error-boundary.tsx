import { Component, type ReactNode } from 'react'
import { fetchAnew } from '../routing/routes.tsx'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Page } from '../ui/page.tsx'
import { useShellTexts } from './texts.ts'

/** Contains the error of a page, so that the shell still works. A new `key` clears the error. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {}

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override componentDidMount() {
    addEventListener('online', this.#whenOnline)
  }

  override componentWillUnmount() {
    removeEventListener('online', this.#whenOnline)
  }

  #again = () => {
    fetchAnew()
    this.setState({ error: undefined })
  }

  #whenOnline = () => {
    if (isUnfetched(this.state.error)) this.#again()
  }

  override render() {
    return this.state.error === undefined ? this.props.children : <Crashed error={this.state.error} onRetry={this.#again} />
  }
}

/** Whether the code of a page could not be fetched: the network is offline, or a newer console was deployed. */
const isUnfetched = (error: unknown) =>
  /dynamically imported module|Importing a module|module script|preload CSS/i.test(String(error))

function Crashed({ error, onRetry }: { error: unknown; onRetry(): void }) {
  const texts = useShellTexts()
  const { title, text } = isUnfetched(error) ? texts.unfetched : texts.crashed
  const actions = (
    <>
      {isUnfetched(error) && (
        <Button icon="refresh" look="primary" onPress={onRetry}>
          {texts.unfetched.again}
        </Button>
      )}
      <Button onPress={() => location.reload()}>{texts.crashed.reload}</Button>
    </>
  )
  return (
    <Page title={title}>
      <Card>
        <EmptyState icon="warning" title={title} actions={actions}>
          {text}
        </EmptyState>
        {!isUnfetched(error) && <p className="muted mono">{String(error)}</p>}
      </Card>
    </Page>
  )
}
