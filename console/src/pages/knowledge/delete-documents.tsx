import { type Document, useDeleteDocuments } from '../../queries/documents.ts'
import { useFormat } from '../../texts/format.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { useKnowledgeTexts } from './texts.ts'

const MOST_NAMED = 3

interface DeleteDocumentsProps {
  agentId: string
  /** If this is empty, the dialog is closed. */
  documents: readonly Document[]
  onClose(): void
  onDone?(): void
}

/** Asks for confirmation before documents are deleted. */
export function DeleteDocuments({ agentId, documents, onClose, onDone }: DeleteDocumentsProps) {
  const texts = useKnowledgeTexts().remove
  const format = useFormat()
  const { mutateAsync } = useDeleteDocuments(agentId)
  const names = documents.slice(0, MOST_NAMED).map(({ title }) => texts.named(title))
  const named = documents.length > MOST_NAMED ? [...names, '…'] : names
  return (
    <ConfirmDialog
      title={texts.title(documents.length)}
      action={texts.confirm(documents.length)}
      isOpen={documents.length > 0}
      onClose={onClose}
      onConfirm={async () => {
        await mutateAsync(documents.map(({ id }) => id))
        toast(texts.done(documents.length))
        onDone?.()
      }}
    >
      <p className="as-written">{texts.text(format.list(named))}</p>
    </ConfirmDialog>
  )
}
