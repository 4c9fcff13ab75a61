import { useState } from 'react'
import { useModels } from '../../queries/models.ts'
import { Card } from '../../ui/card.tsx'
import { ComboBox } from '../../ui/combo-box.tsx'
import { NumberField, TextField } from '../../ui/field.tsx'
import { ListEditor } from '../../ui/list-editor.tsx'
import { Select } from '../../ui/select.tsx'
import { Switch } from '../../ui/toggle.tsx'
import type { Draft } from './draft.ts'
import { useAgentTexts } from './texts.ts'

export interface FieldsProps {
  draft: Draft
  onChange(change: Partial<Draft>): void
  /** Errors from the service, by the path of the field. */
  errors: Record<string, string>
}

/** Selects the errors of a list field, by position of the line. */
const linesOf = (errors: Record<string, string>, field: string) =>
  Object.fromEntries(
    Object.entries(errors).flatMap(([path, text]) =>
      path === field ? [['', text]] : path.startsWith(`${field}.`) ? [[path.slice(field.length + 1), text]] : [],
    ),
  ) as Record<string, string>

/** An empty number field is NaN; the agent has null. */
const toNumber = (value: number | null) => value ?? Number.NaN
const fromNumber = (value: number) => (Number.isNaN(value) ? null : value)
const PLAIN = { useGrouping: true, maximumFractionDigits: 4 } as const

export function IdentityFields({ draft, onChange, errors }: FieldsProps) {
  const texts = useAgentTexts().fields
  return (
    <Card title={texts.identity} description={texts.identityText}>
      <div className="stack">
        <TextField
          label={texts.name}
          value={draft.name}
          onChange={(name) => onChange({ name })}
          error={errors['name']}
          isRequired
        />
        <TextField
          label={texts.instructions}
          description={texts.instructionsText}
          rows={5}
          value={draft.instructions}
          onChange={(instructions) => onChange({ instructions })}
          error={errors['instructions']}
        />
        <TextField
          label={texts.greeting}
          description={texts.greetingText}
          rows={2}
          value={draft.greeting}
          onChange={(greeting) => onChange({ greeting })}
          error={errors['greeting']}
        />
        <ListEditor
          label={texts.starters}
          description={texts.startersText}
          addLabel={texts.addStarter}
          items={draft.starters}
          onChange={(starters) => onChange({ starters })}
          errors={linesOf(errors, 'starters')}
          max={8}
        />
      </div>
    </Card>
  )
}

/** Selects a model from a list, or accepts a typed id. */
export function ModelField({
  kind,
  label,
  description,
  value,
  onChange,
  error,
  placeholder,
}: {
  kind: 'chat' | 'embedding'
  label: string
  description: string
  value: string
  onChange(value: string): void
  error: string | undefined
  placeholder?: string
}) {
  const { data } = useModels()
  const options = (data ?? []).filter((model) => model.kind === kind).map(({ id }) => ({ id, label: id }))
  return (
    <ComboBox
      label={label}
      description={description}
      options={options}
      value={value}
      onChange={onChange}
      error={error}
      {...(placeholder !== undefined && { placeholder })}
    />
  )
}

export function ReplyFields({ draft, onChange, errors }: FieldsProps) {
  const texts = useAgentTexts().fields
  return (
    <Card title={texts.modelCard} description={texts.modelCardText}>
      <div className="stack">
        <ModelField
          kind="chat"
          label={texts.model}
          description={texts.modelText}
          value={draft.model}
          onChange={(model) => onChange({ model })}
          error={errors['model']}
        />
        <ListEditor
          label={texts.fallback}
          description={texts.fallbackText}
          addLabel={texts.addFallback}
          placeholder="provider/name"
          items={draft.fallbackModels}
          onChange={(fallbackModels) => onChange({ fallbackModels })}
          errors={linesOf(errors, 'fallbackModels')}
          max={8}
          isCode
        />
        <div className="agents-pair">
          <NumberField
            label={texts.temperature}
            description={texts.temperatureText}
            placeholder={texts.ownDefault}
            minValue={0}
            maxValue={2}
            step={0.1}
            value={toNumber(draft.temperature)}
            onChange={(value) => onChange({ temperature: fromNumber(value) })}
            error={errors['temperature']}
          />
          <NumberField
            label={texts.maxOutput}
            placeholder={texts.ownDefault}
            unit={texts.tokens}
            minValue={1}
            maxValue={1_000_000}
            formatOptions={PLAIN}
            value={toNumber(draft.maxOutputTokens)}
            onChange={(value) => onChange({ maxOutputTokens: fromNumber(value) })}
            error={errors['maxOutputTokens']}
          />
        </div>
        <Switch
          label={texts.followUps}
          description={texts.followUpsText}
          isSelected={draft.followUps.enabled}
          onChange={(enabled) => onChange({ followUps: { ...draft.followUps, enabled } })}
        />
        {draft.followUps.enabled && (
          <div className="agents-pair agents-indent">
            <NumberField
              label={texts.followUpCount}
              minValue={1}
              maxValue={10}
              value={draft.followUps.count}
              onChange={(value) => onChange({ followUps: { ...draft.followUps, count: fromNumber(value) ?? 3 } })}
              error={errors['followUps.count']}
            />
          </div>
        )}
        <Switch
          label={texts.autoName}
          description={texts.autoNameText}
          isSelected={draft.autoName}
          onChange={(autoName) => onChange({ autoName })}
        />
      </div>
    </Card>
  )
}

export function RetrievalFields({ draft, onChange, errors }: FieldsProps) {
  const texts = useAgentTexts().fields
  const { retrieval } = draft
  const change = (more: Partial<Draft['retrieval']>) => onChange({ retrieval: { ...retrieval, ...more } })
  const modes = (['lexical', 'hybrid'] as const).map((id) => ({ id, label: texts.modes[id], description: texts.modeTexts[id] }))
  return (
    <Card title={texts.retrieval} description={texts.retrievalText}>
      <div className="stack">
        <div className="agents-pair">
          <NumberField
            label={texts.topK}
            minValue={1}
            maxValue={100}
            value={retrieval.topK}
            onChange={(value) => change({ topK: fromNumber(value) ?? 6 })}
            error={errors['retrieval.topK']}
          />
          <NumberField
            label={texts.minScore}
            description={texts.minScoreText}
            placeholder={texts.automatic}
            minValue={0}
            maxValue={1}
            step={0.05}
            value={toNumber(retrieval.minScore)}
            onChange={(value) => change({ minScore: fromNumber(value) })}
            error={errors['retrieval.minScore']}
          />
        </div>
        <Select
          label={texts.mode}
          options={modes}
          value={retrieval.mode}
          onChange={(mode) => change({ mode })}
          error={errors['retrieval.mode']}
        />
        {retrieval.mode === 'hybrid' && (
          <ModelField
            kind="embedding"
            label={texts.embedding}
            description={texts.embeddingText}
            placeholder="provider/name"
            value={draft.embeddingModel ?? ''}
            onChange={(embeddingModel) => onChange({ embeddingModel })}
            error={errors['embeddingModel']}
          />
        )}
        <Switch
          label={texts.rerank}
          description={texts.rerankText}
          isSelected={retrieval.rerank}
          onChange={(rerank) => change({ rerank })}
        />
        <FilterField value={retrieval.filter} onChange={(filter) => change({ filter })} error={errors['retrieval.filter']} />
      </div>
    </Card>
  )
}

/** A metadata filter, typed as JSON. Changes the draft only while the text is valid. */
function FilterField({
  value,
  onChange,
  error,
}: {
  value: Draft['retrieval']['filter']
  onChange(value: Draft['retrieval']['filter']): void
  error: string | undefined
}) {
  const texts = useAgentTexts().fields
  const [text, setText] = useState(value === null ? '' : JSON.stringify(value))
  const [isWrong, setWrong] = useState(false)
  const change = (next: string) => {
    setText(next)
    const filter = parseObject(next)
    setWrong(filter === undefined)
    if (filter !== undefined) onChange(filter)
  }
  return (
    <div {...(isWrong && { 'data-wrong': '' })}>
      <TextField
        label={texts.filter}
        description={texts.filterText}
        isCode
        value={text}
        onChange={change}
        error={isWrong ? texts.filterWrong : error}
        spellCheck="false"
      />
    </div>
  )
}

function parseObject(text: string): Draft['retrieval']['filter'] | undefined {
  if (text.trim() === '') return null
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function LimitFields({ draft, onChange, errors }: FieldsProps) {
  const texts = useAgentTexts().fields
  const budgets = [
    ['tokensPerDay', texts.tokensPerDay],
    ['tokensPerUserPerDay', texts.tokensPerUser],
    ['costPerDay', texts.costPerDay],
  ] as const
  return (
    <Card title={texts.limits} description={texts.limitsText}>
      <div className="agents-pair">
        {budgets.map(([field, label]) => (
          <NumberField
            key={field}
            label={label}
            placeholder={texts.noLimit}
            minValue={field === 'costPerDay' ? 0 : 1}
            formatOptions={PLAIN}
            value={toNumber(draft.budget[field])}
            onChange={(value) => onChange({ budget: { ...draft.budget, [field]: fromNumber(value) } })}
            error={errors[`budget.${field}`]}
          />
        ))}
        <NumberField
          label={texts.retention}
          description={texts.retentionText}
          placeholder={texts.forever}
          unit={texts.days}
          minValue={1}
          maxValue={36_500}
          value={toNumber(draft.retentionDays)}
          onChange={(value) => onChange({ retentionDays: fromNumber(value) })}
          error={errors['retentionDays']}
        />
      </div>
    </Card>
  )
}

export function WebFields({ draft, onChange, errors }: FieldsProps) {
  const texts = useAgentTexts().fields
  return (
    <Card title={texts.web} description={texts.webText}>
      <div className="stack">
        <ListEditor
          label={texts.origins}
          description={texts.originsText}
          addLabel={texts.addOrigin}
          placeholder="https://www.example.com"
          items={draft.allowedOrigins}
          onChange={(allowedOrigins) => onChange({ allowedOrigins })}
          errors={linesOf(errors, 'allowedOrigins')}
          isCode
        />
        <ListEditor
          label={texts.hosts}
          description={texts.hostsText}
          addLabel={texts.addHost}
          placeholder="images.example.com"
          items={draft.imageHosts}
          onChange={(imageHosts) => onChange({ imageHosts })}
          errors={linesOf(errors, 'imageHosts')}
          isCode
        />
      </div>
    </Card>
  )
}
