import { useState } from 'react'
import { type Key, useRollKey } from '../../queries/keys.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select } from '../../ui/select.tsx'
import type { Issued } from './key-secret.tsx'
import { useKeyTexts } from './texts.ts'

const HOURS = { h0: 0, h1: 1, h24: 24, h168: 168, h720: 720 } as const
type Overlap = keyof typeof HOURS

/** Replaces a key with a new one. */
export function RollKey({ of, onClose, onRolled }: { of: Key; onClose(): void; onRolled(issued: Issued): void }) {
  const texts = useKeyTexts().roll
  const [overlap, setOverlap] = useState<Overlap>('h24')
  const { mutateAsync, isPending, error } = useRollKey()
  const roll = async () => {
    const overlapSeconds = HOURS[overlap] * 3_600
    const rolled = await mutateAsync({ keyId: of.id, overlapSeconds }).catch(() => undefined)
    if (rolled === undefined) return
    // An old key that expires before the end of the overlap still expires at its own time.
    const end = Date.now() + overlapSeconds * 1_000
    const oldEndsAt = of.expiresAt === null ? end : Math.min(end, Date.parse(of.expiresAt))
    onRolled({ key: rolled.key, secret: rolled.secret, oldEndsAt })
  }
  return (
    <FormDialog
      title={texts.title(of.name)}
      action={texts.submit}
      onSubmit={() => void roll()}
      onClose={onClose}
      error={error}
      isBusy={isPending}
    >
      <p className="muted">{texts.text}</p>
      <Select<Overlap>
        label={texts.overlap}
        value={overlap}
        onChange={setOverlap}
        options={(Object.keys(HOURS) as Overlap[]).map((id) => ({ id, label: texts.overlaps[id] }))}
      />
    </FormDialog>
  )
}
