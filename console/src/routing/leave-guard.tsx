import { useEffect } from 'react'
import { useShellTexts } from '../shell/texts.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { guard, usePendingMove } from './location.ts'

/** Asks for confirmation before the reader leaves a page with unsaved changes, by any kind of navigation. */
export function useLeaveGuard(isDirty: boolean): void {
  useEffect(() => (isDirty ? guard() : undefined), [isDirty])
}

export function LeaveDialog() {
  const texts = useShellTexts()
  const { isPending, stay, leave } = usePendingMove()
  const actions = (
    <>
      <Button onPress={leave}>{texts.unsaved.leave}</Button>
      <Button look="primary" onPress={stay} autoFocus>
        {texts.unsaved.stay}
      </Button>
    </>
  )
  return (
    <Dialog title={texts.unsaved.title} isOpen={isPending} onClose={stay} actions={actions} isUrgent>
      <p className="muted">{texts.unsaved.text}</p>
    </Dialog>
  )
}
