import { Link } from 'wouter'
import type { AgentWithStats } from '../../queries/agents.ts'
import { IconButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ProgressBar } from '../../ui/progress.tsx'
import { useOverviewTexts } from './texts.ts'

type Step = 'agent' | 'documents' | 'ask' | 'embed'
const steps: readonly Step[] = ['agent', 'documents', 'ask', 'embed']

const isDone = (agents: readonly AgentWithStats[]): Record<Step, boolean> => ({
  agent: agents.length > 0,
  documents: agents.some(({ stats }) => stats.documents > 0),
  ask: agents.some(({ stats }) => stats.messages > 0),
  embed: agents.some(({ allowedOrigins }) => allowedOrigins.length > 0),
})

/** Whether all first steps are done. */
export const isStarted = (agents: readonly AgentWithStats[]) => Object.values(isDone(agents)).every(Boolean)

/** The steps from an empty service to an agent on a web page. */
export function FirstSteps({
  agents,
  isLoading,
  onHide,
}: {
  agents: readonly AgentWithStats[]
  isLoading: boolean
  onHide(): void
}) {
  const texts = useOverviewTexts()
  const done = isDone(agents)
  const count = steps.filter((step) => done[step]).length
  // The next step applies to the agent with the most documents and messages.
  const best = [...agents].sort((a, b) => b.stats.documents - a.stats.documents || b.stats.messages - a.stats.messages)[0]
  const hrefs: Record<Step, string> = {
    agent: '/agents/new',
    documents: best === undefined ? '/agents/new' : `/agents/${best.id}/knowledge`,
    ask: best === undefined ? '/agents/new' : `/agents/${best.id}/playground`,
    embed: best === undefined ? '/agents/new' : `/agents/${best.id}`,
  }
  const next = isLoading ? undefined : steps.find((step) => !done[step])
  return (
    <Card
      title={texts.start}
      description={texts.startText}
      actions={<IconButton icon="close" label={texts.hide} size="small" onPress={onHide} />}
      className="steps"
    >
      <ProgressBar
        label={texts.done(count, steps.length)}
        hidesLabel
        value={isLoading ? 0 : count}
        max={steps.length}
        valueLabel={texts.done(count, steps.length)}
      />
      <ol className="steps-list">
        {steps.map((step, place) => (
          <li key={step}>
            <Link href={hrefs[step]} className={`step ${done[step] ? 'step-done' : ''} ${step === next ? 'step-next' : ''}`}>
              <span className="step-mark">{done[step] ? <Icon name="check" size={14} /> : place + 1}</span>
              <span className="step-words">
                <span className="step-title">
                  {texts.steps[step][0]}
                  <span className="hidden-visually"> ({done[step] ? texts.isDone : texts.isOpen})</span>
                </span>
                <span className="step-text">{texts.steps[step][1]}</span>
              </span>
            </Link>
          </li>
        ))}
      </ol>
    </Card>
  )
}
