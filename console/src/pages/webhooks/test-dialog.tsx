import { useState } from 'react'
import { type Delivery, useTestWebhook } from '../../queries/webhooks.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { Note } from '../../ui/note.tsx'
import { Spinner } from '../../ui/progress.tsx'
import { useWebhookTexts } from './texts.ts'

export type Trial = ReturnType<typeof useTrial>

/** State of a webhook test and its result. */
export function useTrial() {
  const { mutate, data, error, isPending, reset } = useTestWebhook()
  const [isOpen, setOpen] = useState(false)
  return {
    isOpen,
    isPending,
    delivery: data,
    error,
    start(webhookId: string) {
      reset()
      setOpen(true)
      mutate(webhookId)
    },
    close: () => setOpen(false),
  }
}

export function TestDialog({ trial: { isOpen, isPending, delivery, error, close } }: { trial: Trial }) {
  const texts = useWebhookTexts().test
  return (
    <Dialog title={texts.title} isOpen={isOpen} onClose={close} actions={<Button onPress={close}>{texts.close}</Button>}>
      {isPending && (
        <p className="row muted" role="status">
          <Spinner /> {texts.busy}
        </p>
      )}
      {error !== null && <ErrorNote error={error} />}
      {delivery !== undefined && <Outcome of={delivery} />}
    </Dialog>
  )
}

function Outcome({ of: { state, responseStatus, error } }: { of: Delivery }) {
  const texts = useWebhookTexts().test
  const isGood = state === 'delivered'
  return (
    <Note tone={isGood ? 'good' : 'bad'} title={isGood ? texts.good : texts.bad} isAlert>
      <p>{responseStatus === null ? texts.silent : texts.status(responseStatus)}</p>
      {error !== null && (
        <p className="as-written">
          <code>{error}</code>
        </p>
      )}
    </Note>
  )
}
