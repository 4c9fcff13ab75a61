import './trial.css'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import type { AgentChanges, AgentWithStats } from '../../queries/agents.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { TextField } from '../../ui/field.tsx'
import { Markdown, preloadMarkdown } from '../../ui/markdown.tsx'
import { Spinner } from '../../ui/progress.tsx'
import { Tile } from '../../ui/tile.tsx'
import { useMedia } from '../../ui/use-media.ts'
import type { Draft } from './draft.ts'
import { useAgentTexts } from './texts.ts'
import { type TrialTurn, useTrial } from './use-trial.ts'

interface TryItProps {
  agent: AgentWithStats
  draft: Draft
  /** The draft has unsaved changes. */
  isDirty: boolean
  /** Returns the changes of the draft; undefined if a field is invalid. */
  readChanges(): AgentChanges | undefined
}

/** A preview chat with the agent as configured in the fields, saved or not. Shown next to the fields, or in a dialog on narrow screens. */
export function TryIt(props: TryItProps) {
  const texts = useAgentTexts().try
  const trial = useTrial(props.agent.id)
  useEffect(preloadMarkdown, [])
  const isBeside = useMedia('(width >= 78rem)')
  const [isOpen, setOpen] = useState(false)
  const again = trial.turns.length > 0 && <IconButton icon="refresh" label={texts.again} size="small" onPress={trial.reset} />
  if (isBeside)
    return (
      <aside className="trial trial-beside card" aria-label={texts.title}>
        <div className="trial-head">
          <h2>{texts.title}</h2>
          {again}
        </div>
        <Conversation {...props} trial={trial} />
      </aside>
    )
  return (
    <>
      <Button icon="playground" className="trial-open" onPress={() => setOpen(true)}>
        {texts.open}
      </Button>
      <Dialog title={texts.title} isOpen={isOpen} onClose={() => setOpen(false)} width="34rem">
        <div className="trial">
          {again}
          <Conversation {...props} trial={trial} />
        </div>
      </Dialog>
    </>
  )
}

function Conversation({ draft, isDirty, readChanges, trial }: TryItProps & { trial: ReturnType<typeof useTrial> }) {
  const texts = useAgentTexts().try
  const [question, setQuestion] = useState('')
  const [isBlocked, setBlocked] = useState(false)
  const end = useRef<HTMLDivElement>(null)
  const { turns, ask, isRunning } = trial
  const last = turns.at(-1)
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to the end whenever the content grows
  useEffect(
    () => void end.current?.scrollTo({ top: end.current.scrollHeight }),
    [last?.reply, last?.answer, last?.error, turns.length],
  )

  const send = async (text: string) => {
    if (text.trim() === '' || isRunning) return
    const changes = readChanges()
    setBlocked(changes === undefined)
    if (changes === undefined) return
    setQuestion('')
    await ask(text.trim(), changes)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void send(question)
  }
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by the keyboard */}
      <div ref={end} className="trial-turns" tabIndex={0} role="log" aria-live="off" aria-label={texts.title}>
        {turns.length === 0 ? (
          <div className="trial-empty">
            <Tile name={draft.name} size="large" />
            <p className={draft.greeting === '' ? 'muted' : ''} dir="auto">
              {draft.greeting === '' ? texts.noGreeting : draft.greeting}
            </p>
            <p className="muted trial-hint">{texts.text}</p>
            <div className="trial-starters">
              <Questions texts={draft.starters.filter((starter) => starter.trim() !== '')} onAsk={(text) => void send(text)} />
            </div>
          </div>
        ) : (
          <>
            {turns.map((turn) => (
              <Turn key={turn.id} turn={turn} />
            ))}
            <div className="trial-starters">
              <Questions texts={last?.answer?.followUps?.map(({ text }) => text) ?? []} onAsk={(text) => void send(text)} />
            </div>
          </>
        )}
      </div>
      <p role="status" className="hidden-visually">
        {last?.answer === undefined ? (isRunning ? texts.thinking : '') : texts.replied(last.answer.aiMessage.content)}
      </p>
      <form className="trial-form" onSubmit={submit}>
        {(isDirty || isBlocked) && <p className="field-description">{isBlocked ? texts.needsSave : texts.unsaved}</p>}
        <div className="trial-line">
          <TextField
            label={texts.question}
            hidesLabel
            placeholder={texts.placeholder}
            value={question}
            onChange={setQuestion}
            autoComplete="off"
          />
          <Button type="submit" look="primary" isDisabled={question.trim() === ''} isBusy={isRunning}>
            {texts.ask}
          </Button>
        </div>
      </form>
    </>
  )
}

const Questions = ({ texts, onAsk }: { texts: readonly string[]; onAsk(text: string): void }) =>
  [...new Set(texts)].map((text) => (
    <Button key={text} size="small" className="trial-starter" onPress={() => onAsk(text)}>
      {text}
    </Button>
  ))

function Turn({ turn: { question, reply, answer, error } }: { turn: TrialTurn }) {
  const texts = useAgentTexts().try
  return (
    <div className="trial-turn">
      <div className="trial-question">
        <span className="hidden-visually">{texts.you}: </span>
        <span className="as-written">{question}</span>
      </div>
      <div className="trial-reply">
        <span className="hidden-visually">{texts.reply}: </span>
        {error !== undefined ? (
          <ErrorNote error={error} />
        ) : reply === '' ? (
          <Waiting />
        ) : (
          <Markdown text={reply} citation={cite} />
        )}
        {answer?.sources !== undefined && answer.sources.length > 0 && (
          <ol className="trial-sources" aria-label={texts.sources}>
            {answer.sources.map((source) => (
              <li key={source.index}>
                <details>
                  <summary>
                    <span className="mark">{source.index}</span>
                    <span className="as-written">{source.title}</span>
                    {source.page !== undefined && <span className="muted"> {texts.page(source.page)}</span>}
                  </summary>
                  <blockquote dir="auto">{source.snippet}</blockquote>
                </details>
              </li>
            ))}
          </ol>
        )}
      </div>
    </div>
  )
}

const cite = (n: number) => <sup className="mark">{n}</sup>

function Waiting() {
  const texts = useAgentTexts().try
  return (
    <span className="muted trial-waiting">
      <Spinner size={14} /> {texts.thinking}
    </span>
  )
}
