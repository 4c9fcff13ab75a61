import { TextField } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { DAYS, type Draft, type Expiry } from './draft.ts'
import { useKeyTexts } from './texts.ts'

interface ExpiryFieldsProps {
  draft: Draft
  onChange(changes: Partial<Draft>): void
  isMissing: boolean
}

export function ExpiryFields({ draft, onChange, isMissing }: ExpiryFieldsProps) {
  const texts = useKeyTexts().form
  return (
    <div className="parts-pair">
      <Select<Expiry>
        label={texts.expiry}
        value={draft.expiry}
        onChange={(expiry) => onChange({ expiry })}
        options={(Object.keys(DAYS) as Expiry[]).map((id) => ({ id, label: texts.expiries[id] }))}
      />
      {draft.expiry === 'custom' && (
        <TextField
          label={texts.day}
          type="date"
          value={draft.day}
          onChange={(day) => onChange({ day })}
          isRequired
          error={isMissing ? texts.dayMissing : undefined}
        />
      )}
    </div>
  )
}
