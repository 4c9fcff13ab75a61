import { useId, useState } from 'react'
import { fieldErrors } from '../../queries/errors.ts'
import { useCreateWebhook, type WebhookEvent } from '../../queries/webhooks.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { TextField } from '../../ui/field.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { Checkbox } from '../../ui/toggle.tsx'
import { useMedia } from '../../ui/use-media.ts'
import { AgentChoice } from '../parts/agent-choice.tsx'
import { usePartTexts } from '../parts/texts.ts'
import { EVENTS } from './events.ts'
import { useWebhookTexts } from './texts.ts'
import type { Created } from './webhook-secret.tsx'

const isAddress = (url: string) => /^https?:\/\/\S+$/i.test(url.trim()) && URL.canParse(url.trim())

export function NewWebhook({ onClose, onCreated }: { onClose(): void; onCreated(created: Created): void }) {
  const texts = useWebhookTexts().form
  const { cancel } = useUiTexts()
  const { missing: noAgents } = usePartTexts().agents
  const id = useId()
  // With the keyboard of a phone in its way the form would not be seen as a whole.
  const isTouched = useMedia('(pointer: coarse)')
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<WebhookEvent[]>(['message.completed', 'turn.failed'])
  const [agentIds, setAgentIds] = useState<string[] | null>(null)
  const [isTried, setTried] = useState(false)
  const { mutateAsync, isPending, error } = useCreateWebhook()
  const errors = fieldErrors(error)
  const submit = async () => {
    setTried(true)
    if (!isAddress(url) || events.length === 0 || agentIds?.length === 0 || isPending) return
    const body = { url: url.trim(), events, ...(agentIds !== null && { agentIds }) }
    const created = await mutateAsync(body).catch(() => undefined)
    if (created !== undefined) onCreated(created)
  }
  const actions = (
    <>
      <Button onPress={onClose}>{cancel}</Button>
      <Button look="primary" type="submit" form={id} isBusy={isPending}>
        {texts.submit}
      </Button>
    </>
  )
  return (
    <Dialog title={texts.title} isOpen onClose={onClose} actions={actions} width="36rem" isUrgent={isPending}>
      <form
        id={id}
        className="stack webhooks-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextField
          label={texts.url}
          description={texts.urlText}
          type="url"
          placeholder="https://example.com/hooks"
          value={url}
          onChange={setUrl}
          isRequired
          isCode
          autoFocus={!isTouched}
          error={isTried && !isAddress(url) ? texts.urlMissing : errors['url']}
        />
        <EventBoxes value={events} onChange={setEvents} isMissing={isTried && events.length === 0} />
        <AgentChoice value={agentIds} onChange={setAgentIds} error={isTried && agentIds?.length === 0 ? noAgents : undefined} />
      </form>
      {error !== null && <ErrorNote error={error} />}
    </Dialog>
  )
}

interface EventBoxesProps {
  value: readonly WebhookEvent[]
  onChange(events: WebhookEvent[]): void
  isMissing: boolean
}

function EventBoxes({ value, onChange, isMissing }: EventBoxesProps) {
  const texts = useWebhookTexts()
  return (
    <fieldset className="field">
      <legend className="field-label webhooks-legend">{texts.form.events}</legend>
      <div className="stack webhooks-events">
        {EVENTS.map((event) => (
          <Checkbox
            key={event}
            label={event}
            description={texts.eventTexts[event]}
            isSelected={value.includes(event)}
            onChange={(is) => onChange(EVENTS.filter((one) => (one === event ? is : value.includes(one))))}
          />
        ))}
      </div>
      {isMissing && (
        <p className="field-error" role="alert">
          {texts.form.eventsMissing}
        </p>
      )}
    </fieldset>
  )
}
