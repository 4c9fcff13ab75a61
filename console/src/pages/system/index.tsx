import './system.css'
import { useMetrics } from '../../queries/metrics.ts'
import { useModels } from '../../queries/models.ts'
import { Card } from '../../ui/card.tsx'
import { OutsideLink } from '../../ui/link.tsx'
import { Page } from '../../ui/page.tsx'
import { Figures } from './figures.tsx'
import { Models } from './models.tsx'
import { State } from './state.tsx'
import { useSystemTexts } from './texts.ts'

const PAGES = ['operations', 'monitoring', 'configuration', 'models', 'security', 'errors'] as const

/** The state of the service. */
export default function System() {
  const texts = useSystemTexts()
  const metrics = useMetrics()
  const models = useModels()
  return (
    <Page title={texts.title} description={texts.description}>
      <State samples={metrics.data} />
      <Figures metrics={metrics} />
      <Models models={models} />
      {!models.isPending && (
        <Card title={texts.docs}>
          <ul className="system-docs">
            {PAGES.map((page) => (
              <li key={page}>
                <OutsideLink href={`${location.origin}/docs/${page}/`}>{texts.pages[page]}</OutsideLink>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </Page>
  )
}
