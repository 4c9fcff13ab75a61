import { useState } from 'react'
import { fieldErrors } from '../../queries/errors.ts'
import { useCreateWebhook, type WebhookEvent } from '../../queries/webhooks.ts'
import { TextField } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Checkbox } from '../../ui/toggle.tsx'
import { useTakesFocus } from '../../ui/use-media.ts'
import { AgentChoice } from '../parts/agent-choice.tsx'
import { usePartTexts } from '../parts/texts.ts'
import { EVENTS } from './events.ts'
import { useWebhookTexts } from './texts.ts'
import type { Created } from './webhook-secret.tsx'

const isAddress = (url: string) => /^https?:\/\/\S+$/i.test(url.trim()) && URL.canParse(url.trim())

export function NewWebhook({ onClose, onCreated }: { onClose(): void; onCreated(created: Created): void }) {
  const texts = useWebhookTexts().form
  const { missing: noAgents } = usePartTexts().agents
  const takesFocus = useTakesFocus()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<WebhookEvent[]>(['message.completed', 'turn.failed'])
  const [agentIds, setAgentIds] = useState<string[] | null>(null)
  const [isTried, setTried] = useState(false)
  const { mutateAsync, isPending, error } = useCreateWebhook()
  const errors = fieldErrors(error)
  const submit = () => {
    setTried(true)
    if (!isAddress(url) || events.length === 0 || agentIds?.length === 0) return
    const body = { url: url.trim(), events, ...(agentIds !== null && { agentIds }) }
    // Show the secret even if the dialog was closed early: the service returns it only once.
    mutateAsync(body).then(onCreated, () => {})
  }
  return (
    <FormDialog
      title={texts.title}
      action={texts.submit}
      onSubmit={submit}
      onClose={onClose}
      error={error}
      isBusy={isPending}
      width="36rem"
      className="webhooks-form"
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
        autoFocus={takesFocus}
        error={isTried && !isAddress(url) ? texts.urlMissing : errors['url']}
      />
      <EventBoxes value={events} onChange={setEvents} isMissing={isTried && events.length === 0} />
      <AgentChoice value={agentIds} onChange={setAgentIds} error={isTried && agentIds?.length === 0 ? noAgents : undefined} />
    </FormDialog>
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
      <legend className="field-label">{texts.form.events}</legend>
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
