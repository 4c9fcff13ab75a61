import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Note } from '../../ui/note.tsx'
import { usePartTexts } from './texts.ts'

/** A secret that can be seen only now: neither Escape nor a press beside it takes it away. */
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
  /** Why it should be copied now. */
  warning: string
  secret: string
  /** What can be done with it. */
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
