import { type FormEvent, type ReactNode, useId } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { ErrorNote } from './error-note.tsx'
import { useUiTexts } from './texts.ts'

export interface FormDialogProps {
  title: string
  /** Name of the action, on the submit button: `Create the key`. */
  action: string
  onSubmit(): void
  onClose(): void
  children: ReactNode
  /** Error of the last attempt; null or undefined if there is none, or if its field shows it. */
  error?: unknown
  /** The request is running: it is not sent again, and only `Cancel` closes the dialog. */
  isBusy: boolean
  /** There is nothing to send yet. */
  isDisabled?: boolean
  /** CSS length. */
  width?: string
  /** Applies to the form. */
  className?: string
}

/** A short form in a dialog, submitted by its button or by Enter. The page and the service validate it, not the browser. */
export function FormDialog({
  title,
  action,
  onSubmit,
  onClose,
  children,
  error,
  isBusy,
  isDisabled = false,
  width,
  className = '',
}: FormDialogProps) {
  const texts = useUiTexts()
  const id = useId()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isBusy && !isDisabled) onSubmit()
  }
  const actions = (
    <>
      <Button onPress={onClose}>{texts.cancel}</Button>
      <Button look="primary" type="submit" form={id} isBusy={isBusy} isDisabled={isDisabled}>
        {action}
      </Button>
    </>
  )
  return (
    <Dialog title={title} isOpen onClose={onClose} actions={actions} isUrgent={isBusy} {...(width !== undefined && { width })}>
      <form id={id} className={`stack ${className}`} noValidate onSubmit={submit}>
        {children}
      </form>
      {error != null && <ErrorNote error={error} />}
    </Dialog>
  )
}
