import './parts.css'
import { useState } from 'react'
import { useAgentSearch } from '../../queries/agents.ts'
import { SearchField } from '../../ui/field.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Checkbox, RadioGroup } from '../../ui/toggle.tsx'
import { usePartTexts } from './texts.ts'

/** With more agents than this, a search field is shown. */
const SEEN_AT_ONCE = 6

/** Selects all agents (null) or some of them. */
export function AgentChoice({
  value,
  onChange,
  error,
}: {
  value: readonly string[] | null
  onChange(agentIds: string[] | null): void
  error?: string | undefined
}) {
  const texts = usePartTexts().agents
  return (
    <div className="stack parts-choice">
      <RadioGroup
        label={texts.label}
        value={value === null ? 'all' : 'some'}
        onChange={(next) => onChange(next === 'all' ? null : [])}
        choices={[
          { id: 'all', label: texts.all, description: texts.allText },
          { id: 'some', label: texts.some },
        ]}
      />
      {value !== null && <AgentBoxes value={value} onChange={onChange} />}
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

function AgentBoxes({ value, onChange }: { value: readonly string[]; onChange(agentIds: string[]): void }) {
  const texts = usePartTexts().agents
  const [text, setText] = useState('')
  const { found, total, isLoading } = useAgentSearch(text)
  return (
    <fieldset className="parts-boxes">
      <legend className="hidden-visually">{texts.some}</legend>
      {(total ?? 0) > SEEN_AT_ONCE && <SearchField label={texts.search} value={text} onChange={setText} />}
      <div className="parts-boxes-list">
        {found.map(({ id, name }) => (
          <Checkbox
            key={id}
            label={name}
            isSelected={value.includes(id)}
            onChange={(is) => onChange(is ? [...value, id] : value.filter((one) => one !== id))}
          />
        ))}
        {found.length === 0 && (isLoading ? <Skeleton /> : <p className="muted">{total === 0 ? texts.empty : texts.none}</p>)}
      </div>
      <p className="muted parts-small" role="status">
        {texts.chosen(value.length)}
      </p>
    </fieldset>
  )
}
