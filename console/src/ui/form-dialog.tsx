import { type FormEvent, type ReactNode, useId } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { ErrorNote } from './error-note.tsx'
import { useUiTexts } from './texts.ts'

export interface FormDialogProps {
  title: string
  /** The name of the deed, on the button that does it: `Create the key`. */
  action: string
  onSubmit(): void
  onClose(): void
  children: ReactNode
  /** Why the last try failed; null or undefined where it did not, or where its field says it. */
  error?: unknown
  /** It is on its way: it is not sent twice, and only `Cancel` leaves it. */
  isBusy: boolean
  /** There is nothing to send yet. */
  isDisabled?: boolean
  /** As a length of CSS. */
  width?: string
  /** Of the form. */
  className?: string
}

/** A few fields in a dialog, sent by its button or by Enter. What is wrong with them the page and the service say, not the browser. */
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
