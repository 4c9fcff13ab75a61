import './overlay.css'
import { type ReactNode, useEffect, useState } from 'react'
import { Dialog as AriaDialog } from 'react-aria-components/Dialog'
import { Heading } from 'react-aria-components/Heading'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { toFailure } from '../queries/errors.ts'
import { Button, IconButton } from './button.tsx'
import { ErrorNote } from './error-note.tsx'
import { TextField } from './field.tsx'
import { focusIfLost } from './focus.ts'
import { useUiTexts } from './texts.ts'
import { toast } from './toast.tsx'
import { useIsThere } from './use-is-there.ts'

export interface DialogProps {
  title: string
  isOpen: boolean
  onClose(): void
  children: ReactNode
  /** The buttons; the one that runs the action comes last. */
  actions?: ReactNode
  /** CSS length; the default is 29rem. */
  width?: string
  /** The dialog requires an answer: neither Escape nor a press outside closes it. */
  isUrgent?: boolean
}

/** Traps the focus, and restores it on close. If the element that opened the dialog is gone, the heading of the page gets the focus. */
export function Dialog({ title, isOpen, onClose, children, actions, width, isUrgent = false }: DialogProps) {
  const texts = useUiTexts()
  useEffect(() => (isOpen ? focusHeadingBehind : undefined), [isOpen])
  const style = width === undefined ? {} : { style: { '--dialog-width': width } as React.CSSProperties }
  return (
    <ModalOverlay
      className="scrim"
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={!isUrgent}
      isKeyboardDismissDisabled={isUrgent}
    >
      <Modal className="dialog-frame" {...style}>
        <AriaDialog className="dialog" {...(isUrgent && { role: 'alertdialog' })}>
          <div className="dialog-head">
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            {!isUrgent && <IconButton icon="close" label={texts.close} size="small" onPress={onClose} />}
          </div>
          <div className="dialog-body">{children}</div>
          {actions !== undefined && <div className="dialog-foot">{actions}</div>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

const focusHeadingBehind = () => focusIfLost(() => document.querySelector<HTMLElement>('main h1'))

export interface ConfirmProps {
  title: string
  /** Describes what will be deleted. */
  children: ReactNode
  /** Name of the action: `Delete the agent`. */
  action: string
  isOpen: boolean
  onClose(): void
  /** If it fails, the dialog shows the error, or a toast shows it if the dialog was closed early. If it succeeds, the dialog closes. */
  onConfirm(): Promise<unknown>
  /** A word that must be typed first, for actions that delete a lot. */
  word?: string
}

/** Asks for confirmation before something is deleted permanently. */
export function ConfirmDialog({ isOpen, onClose, ...props }: ConfirmProps) {
  // Each opening starts without typed text and without an error.
  return isOpen ? <OpenConfirm {...props} isOpen onClose={onClose} /> : null
}

function OpenConfirm({ title, children, action, onClose, onConfirm, word }: ConfirmProps) {
  const texts = useUiTexts()
  const [typed, setTyped] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const isThere = useIsThere()
  const isReady = word === undefined || typed.trim() === word.trim()
  const confirm = async () => {
    if (!isReady || isBusy) return
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm()
      // If the reader closed the dialog early, another dialog may be open now.
      if (isThere()) onClose()
    } catch (failure) {
      setError(failure)
      setBusy(false)
      if (!isThere()) toast(`${title} ${toFailure(failure, texts).message}`, { tone: 'bad' })
    }
  }
  const actions = (
    <>
      <Button onPress={onClose}>{texts.cancel}</Button>
      <Button look="danger" isDisabled={!isReady} isBusy={isBusy} onPress={() => void confirm()}>
        {action}
      </Button>
    </>
  )
  return (
    <Dialog title={title} isOpen onClose={onClose} actions={actions}>
      <div className="muted">{children}</div>
      {word !== undefined && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void confirm()
          }}
        >
          <TextField label={texts.typeToConfirm(word)} value={typed} onChange={setTyped} autoFocus autoComplete="off" />
        </form>
      )}
      {error !== undefined && <ErrorNote error={error} />}
    </Dialog>
  )
}
