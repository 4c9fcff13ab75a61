import { useState } from 'react'
import { fieldErrors } from '../../queries/errors.ts'
import { type Step, type Trial, useAddAnswer } from '../../queries/insights.ts'
import { useLeaveGuard } from '../../routing/leave-guard.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { TextField } from '../../ui/field.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Note } from '../../ui/note.tsx'
import { Spinner } from '../../ui/progress.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { useInsightTexts } from './texts.ts'

interface Props {
  agentId: string
  question: string
  onAnswered(): void
  onClose(): void
}

/** Adds the answer to a question to the knowledge base, and checks whether the agent uses it. */
export function AddAnswer({ agentId, question, onAnswered, onClose }: Props) {
  const texts = useInsightTexts().answer
  const { cancel } = useUiTexts()
  const [heading, setHeading] = useState(question)
  const [text, setText] = useState('')
  const [isTried, setTried] = useState(false)
  const [step, setStep] = useState<Step>('writing')
  const [documentId, setDocumentId] = useState<string>()
  const { mutate, isPending, error, data, reset } = useAddAnswer(agentId, setStep, setDocumentId)
  useLeaveGuard(text !== '' && data === undefined)
  const submit = () => {
    setTried(true)
    if (heading.trim() === '' || text.trim() === '' || isPending) return
    mutate(
      { question, heading: heading.trim(), text: text.trim(), documentId },
      { onSuccess: (trial) => isGood(trial) && onAnswered() },
    )
  }
  // One button for all steps: screen readers announce the current step, and the end, by its changing name.
  const actions = (
    <>
      {data === undefined && <Button onPress={onClose}>{cancel}</Button>}
      {data !== undefined && isGood(data) && (
        <LinkButton href={`/agents/${agentId}/knowledge/documents/${data.documentId}`}>{texts.document}</LinkButton>
      )}
      {data !== undefined && !isGood(data) && <Button onPress={reset}>{texts.change}</Button>}
      <Button key="main" look="primary" isBusy={isPending} onPress={data === undefined ? submit : onClose}>
        {data !== undefined ? texts.close : documentId === undefined ? texts.submit : texts.again}
      </Button>
    </>
  )
  const errors = fieldErrors(error)
  return (
    <Dialog title={texts.title} isOpen onClose={onClose} actions={actions} width="38rem" isUrgent={isPending}>
      {data !== undefined ? (
        <TrialNote trial={data} />
      ) : (
        <>
          <p className="muted">{texts.text}</p>
          <TextField
            label={texts.heading}
            description={texts.headingText}
            value={heading}
            onChange={setHeading}
            isDisabled={isPending}
            error={errors['title'] ?? (isTried && heading.trim() === '' ? texts.missingHeading : undefined)}
          />
          <TextField
            label={texts.answer}
            description={texts.answerText}
            value={text}
            onChange={setText}
            rows={7}
            autoFocus
            isDisabled={isPending}
            error={errors['markdown'] ?? (isTried && text.trim() === '' ? texts.missing : undefined)}
          />
          <div role="status" className="insights-step">
            {isPending && (
              <>
                <Spinner /> {texts.steps[step]}
              </>
            )}
          </div>
          {error !== null && <ErrorNote error={error} />}
        </>
      )}
    </Dialog>
  )
}

/** The reply is grounded and cites the new document. Without a reply, the document is the first search hit. */
const isGood = (trial: Trial) => {
  const { documentId } = trial
  if (!('answer' in trial)) return trial.hits[0]?.documentId === documentId
  const { trace, sources = [] } = trial.answer
  return trace?.grounding.answered === true && sources.some((source) => source.documentId === documentId)
}

function TrialNote({ trial }: { trial: Trial }) {
  const texts = useInsightTexts().answer
  const is = isGood(trial)
  if (!('answer' in trial)) {
    return (
      <>
        <Note tone={is ? 'good' : 'warn'} isAlert title={is ? texts.found : texts.notFound}>
          {texts.foundText}
        </Note>
        {trial.hits[0] !== undefined && <blockquote className="insights-said as-written">{trial.hits[0].text}</blockquote>}
      </>
    )
  }
  const { content } = trial.answer.aiMessage
  return (
    <>
      <Note tone={is ? 'good' : 'warn'} isAlert title={is ? texts.works : texts.fails}>
        {is ? texts.worksText : texts.failsText}
      </Note>
      <div className="insights-said">
        <Markdown text={content} />
        {trial.answer.sources !== undefined && (
          <ol className="insights-said-sources">
            {trial.answer.sources.map(({ index, title }) => (
              <li key={index} className="as-written">
                [{index}] {title}
              </li>
            ))}
          </ol>
        )}
      </div>
    </>
  )
}
