import { useState } from 'react'
import { type Key, useRollKey } from '../../queries/keys.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { Select } from '../../ui/select.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import type { Issued } from './key-secret.tsx'
import { useKeyTexts } from './texts.ts'

const HOURS = { h0: 0, h1: 1, h24: 24, h168: 168, h720: 720 } as const
type Overlap = keyof typeof HOURS

/** Puts a new key into the place of one. */
export function RollKey({ of, onClose, onRolled }: { of: Key; onClose(): void; onRolled(issued: Issued): void }) {
  const texts = useKeyTexts().roll
  const { cancel } = useUiTexts()
  const [overlap, setOverlap] = useState<Overlap>('h24')
  const { mutateAsync, isPending, error } = useRollKey()
  const roll = async () => {
    const overlapSeconds = HOURS[overlap] * 3_600
    const rolled = await mutateAsync({ keyId: of.id, overlapSeconds }).catch(() => undefined)
    if (rolled === undefined) return
    // An old one that ends before the overlap does keeps its end.
    const end = Date.now() + overlapSeconds * 1_000
    const oldEndsAt = of.expiresAt === null ? end : Math.min(end, Date.parse(of.expiresAt))
    onRolled({ key: rolled.key, secret: rolled.secret, oldEndsAt })
  }
  const actions = (
    <>
      <Button onPress={onClose}>{cancel}</Button>
      <Button look="primary" isBusy={isPending} onPress={() => void roll()}>
        {texts.submit}
      </Button>
    </>
  )
  return (
    <Dialog title={texts.title(of.name)} isOpen onClose={onClose} actions={actions} isUrgent={isPending}>
      <p className="muted">{texts.text}</p>
      <Select<Overlap>
        label={texts.overlap}
        value={overlap}
        onChange={setOverlap}
        options={(Object.keys(HOURS) as Overlap[]).map((id) => ({ id, label: texts.overlaps[id] }))}
      />
      {error !== null && <ErrorNote error={error} />}
    </Dialog>
  )
}
