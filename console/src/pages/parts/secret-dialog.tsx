import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Note } from '../../ui/note.tsx'
import { usePartTexts } from './texts.ts'

/** Shows a secret that cannot be shown again, so neither Escape nor a press outside closes the dialog. */
export function SecretDialog({
  title,
  label,
  warning,
  secret,
  children,
  onClose,
}: {
  title: string
  label: string
  /** Why the reader should copy the secret now. */
  warning: string
  secret: string
  /** Usage instructions. */
  children?: ReactNode
  onClose(): void
}) {
  const texts = usePartTexts().secret
  const actions = (
    <Button look="primary" onPress={onClose}>
      {texts.done}
    </Button>
  )
  return (
    <Dialog title={title} isOpen onClose={onClose} actions={actions} width="40rem" isUrgent>
      <Note tone="warn" title={texts.once}>
        <p>{warning}</p>
      </Note>
      <CodeBlock code={secret} label={label} />
      {children}
    </Dialog>
  )
}
