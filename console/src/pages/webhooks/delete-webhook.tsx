import { useDeleteWebhook, type Webhook } from '../../queries/webhooks.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { useWebhookTexts } from './texts.ts'

interface DeleteWebhookProps {
  webhook: Webhook | undefined
  onClose(): void
  onDeleted?(): void
}

export function DeleteWebhook({ webhook, onClose, onDeleted }: DeleteWebhookProps) {
  const texts = useWebhookTexts().remove
  const { mutateAsync } = useDeleteWebhook()
  if (webhook === undefined) return null
  return (
    <ConfirmDialog
      title={texts.title}
      action={texts.submit}
      isOpen
      onClose={onClose}
      onConfirm={async () => {
        await mutateAsync(webhook.id)
        toast(texts.done)
        onDeleted?.()
      }}
    >
      <p>{texts.text(webhook.url)}</p>
    </ConfirmDialog>
  )
}
