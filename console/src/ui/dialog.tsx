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
  /** Its buttons, the one that does the work last. */
  actions?: ReactNode
  /** As a length of CSS; 29rem unless told. */
  width?: string
  /** It asks something that must be answered: neither Escape nor a press beside it closes it. */
  isUrgent?: boolean
}

/** Takes the focus, keeps it, and gives it back to what it came from; where that is gone with what was done, to the heading of the page. */
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
  /** What will be gone. */
  children: ReactNode
  /** The name of the deed: `Delete the agent`. */
  action: string
  isOpen: boolean
  onClose(): void
  /** Where it fails the dialog stays and shows why; where it works the dialog closes. Who leaves it meanwhile is told of a failure in passing. */
  onConfirm(): Promise<unknown>
  /** Has to be typed first: for what takes much with it. */
  word?: string
}

/** Asks before something is deleted for good. */
export function ConfirmDialog({ isOpen, onClose, ...props }: ConfirmProps) {
  // What was typed, and what failed, belongs to one opening.
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
      // Who did not wait may have the next question before them.
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
