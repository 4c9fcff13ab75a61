import { useDeleteSession } from '../../queries/conversations.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { useConversationTexts } from './texts.ts'

export function DeleteSession({
  agentId,
  sessionId,
  name,
  isOpen,
  onClose,
  onDeleted,
}: {
  agentId: string
  sessionId: string
  name: string
  isOpen: boolean
  onClose(): void
  /** Called before the lists are refetched. */
  onDeleted?(): void
}) {
  const texts = useConversationTexts().one
  const { mutateAsync } = useDeleteSession(agentId)
  const remove = async () => {
    await mutateAsync(sessionId)
    toast(texts.deleted)
    onDeleted?.()
  }
  return (
    <ConfirmDialog title={texts.deleteTitle} action={texts.deleteAction} isOpen={isOpen} onClose={onClose} onConfirm={remove}>
      <p className="as-written">{texts.deleteText(name)}</p>
    </ConfirmDialog>
  )
}
