import './keys.css'
import { useState } from 'react'
import { fieldErrors } from '../../queries/errors.ts'
import { useCreateKey } from '../../queries/keys.ts'
import type { Scope } from '../../session/rights.ts'
import { NumberField, TextField } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Note } from '../../ui/note.tsx'
import { Checkbox } from '../../ui/toggle.tsx'
import { useTakesFocus } from '../../ui/use-media.ts'
import { AgentChoice } from '../parts/agent-choice.tsx'
import { usePartTexts } from '../parts/texts.ts'
import { type Draft, findMissing, NEW, toInput } from './draft.ts'
import { ExpiryFields } from './expiry-fields.tsx'
import type { Issued } from './key-secret.tsx'
import { useKeyTexts } from './texts.ts'

const SCOPES: readonly Scope[] = ['chat', 'read', 'knowledge', 'admin']

interface FieldsProps {
  draft: Draft
  onChange(changes: Partial<Draft>): void
}

export function NewKey({ onClose, onCreated }: { onClose(): void; onCreated(issued: Issued): void }) {
  const texts = useKeyTexts().form
  const { missing: noAgents } = usePartTexts().agents
  const takesFocus = useTakesFocus()
  const [draft, setDraft] = useState(NEW)
  const [isTried, setTried] = useState(false)
  const { mutateAsync, isPending, error } = useCreateKey()
  const errors = fieldErrors(error)
  const missing = isTried ? findMissing(draft) : []
  const change = (changes: Partial<Draft>) => setDraft((now) => ({ ...now, ...changes }))
  const submit = () => {
    setTried(true)
    // Show the secret even if the dialog was closed early: the service returns it only once.
    if (findMissing(draft).length === 0) mutateAsync(toInput(draft)).then(onCreated, () => {})
  }
  return (
    <FormDialog
      title={texts.title}
      action={texts.submit}
      onSubmit={submit}
      onClose={onClose}
      error={error}
      isBusy={isPending}
      width="38rem"
      className="keys-form"
    >
      <TextField
        label={texts.name}
        description={texts.nameText}
        value={draft.name}
        onChange={(name) => change({ name })}
        isRequired
        autoFocus={takesFocus}
        error={missing.includes('name') ? texts.nameMissing : errors['name']}
      />
      <ScopeFields draft={draft} onChange={change} error={missing.includes('scopes') ? texts.scopesMissing : undefined} />
      <AgentChoice
        value={draft.agentIds}
        onChange={(agentIds) => change({ agentIds })}
        error={missing.includes('agentIds') ? noAgents : undefined}
      />
      {draft.agentIds !== null && draft.scopes.includes('admin') && <Note>{texts.boundAdmin}</Note>}
      <ExpiryFields draft={draft} onChange={change} isMissing={missing.includes('day')} />
      <BudgetFields draft={draft} onChange={change} />
    </FormDialog>
  )
}

function ScopeFields({ draft, onChange, error }: FieldsProps & { error: string | undefined }) {
  const texts = useKeyTexts()
  const { scopes } = draft
  return (
    <fieldset className="field">
      <legend className="field-label">{texts.form.scopes}</legend>
      <div className="stack keys-scopes">
        {SCOPES.map((scope) => (
          <Checkbox
            key={scope}
            label={texts.scopes[scope]}
            description={texts.scopeTexts[scope]}
            isSelected={scopes.includes(scope)}
            onChange={(is) => onChange({ scopes: is ? [...scopes, scope] : scopes.filter((one) => one !== scope) })}
          />
        ))}
      </div>
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  )
}

function BudgetFields({ draft, onChange }: FieldsProps) {
  const texts = useKeyTexts().form
  return (
    <fieldset className="field">
      <legend className="field-label">{texts.budget}</legend>
      <div className="parts-pair">
        <NumberField
          label={texts.tokens}
          placeholder={texts.noLimit}
          minValue={1}
          step={1}
          value={draft.tokensPerDay}
          onChange={(tokensPerDay) => onChange({ tokensPerDay })}
        />
        <NumberField
          label={texts.cost}
          placeholder={texts.noLimit}
          minValue={0.01}
          step={0.01}
          value={draft.costPerDay}
          onChange={(costPerDay) => onChange({ costPerDay })}
        />
      </div>
      <p className="field-description">{texts.budgetText}</p>
    </fieldset>
  )
}
