import { useLayoutEffect, useRef } from 'react'
import { Button, IconButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { type Entry, type MetadataKind, metadataKinds, problemOf } from './metadata.ts'
import { useKnowledgeTexts } from './texts.ts'

interface MetadataEditorProps {
  entries: readonly Entry[]
  onChange(entries: Entry[]): void
  /** Problems are shown after the first attempt to save. */
  showsProblems: boolean
  /** Errors from the service, by metadata name. */
  errors: Record<string, string>
}

/** Edits the metadata of a document. */
export function MetadataEditor({ entries, onChange, showsProblems, errors }: MetadataEditorProps) {
  const texts = useKnowledgeTexts().metadata
  const list = useRef<HTMLFieldSetElement>(null)
  // Selector of the element that gets the focus after the next render, before the next key is pressed.
  const wanted = useRef<string>(undefined)
  useLayoutEffect(() => {
    if (wanted.current !== undefined) [...(list.current?.querySelectorAll<HTMLElement>(wanted.current) ?? [])].at(-1)?.focus()
    wanted.current = undefined
  })
  const add = () => {
    wanted.current = '.knowledge-metadata-key input'
    onChange([...entries, { key: '', kind: 'text', text: '' }])
  }
  const remove = (place: number) => {
    wanted.current = '.knowledge-metadata-add'
    onChange(entries.filter((_, i) => i !== place))
  }
  return (
    <fieldset ref={list} className="field knowledge-metadata-list">
      <legend className="field-label">{texts.label}</legend>
      {entries.length === 0 && <p className="muted">{texts.none}</p>}
      {entries.map((entry, place) => {
        const problem = showsProblems ? problemOf(entries, place) : undefined
        return (
          <Line
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id, only a position
            key={place}
            entry={entry}
            nth={place + 1}
            keyError={problem === 'noName' || problem === 'twice' ? texts[problem] : undefined}
            error={problem === 'notNumber' ? texts.notNumber : errors[entry.key]}
            onChange={(next) => onChange(entries.map((one, i) => (i === place ? next : one)))}
            onRemove={() => remove(place)}
          />
        )
      })}
      <Button size="small" icon="plus" className="knowledge-metadata-add" onPress={add}>
        {texts.add}
      </Button>
    </fieldset>
  )
}

interface LineProps {
  entry: Entry
  nth: number
  keyError: string | undefined
  error: string | undefined
  onChange(entry: Entry): void
  onRemove(): void
}

function Line({ entry, nth, keyError, error, onChange, onRemove }: LineProps) {
  const texts = useKnowledgeTexts().metadata
  const { key, kind } = entry
  return (
    <div className="knowledge-metadata">
      <div className="knowledge-metadata-key">
        <TextField
          label={texts.nth(texts.key, nth)}
          hidesLabel
          isCode
          placeholder={texts.key}
          value={key}
          error={keyError}
          onChange={(next) => onChange({ ...entry, key: next })}
        />
      </div>
      <div className="knowledge-metadata-kind">
        <Select<MetadataKind>
          label={texts.nth(texts.kind, nth)}
          hidesLabel
          value={kind}
          options={metadataKinds.map((id) => ({ id, label: texts.kinds[id] }))}
          onChange={(next) => onChange({ ...entry, kind: next, text: next === 'boolean' ? 'true' : entry.text })}
        />
      </div>
      <div className="knowledge-metadata-value">
        <ValueField entry={entry} label={texts.nth(texts.value, nth)} error={error} onChange={onChange} />
      </div>
      <IconButton
        icon="close"
        size="small"
        className="knowledge-metadata-remove"
        label={texts.remove(key || texts.nth(texts.label, nth))}
        onPress={onRemove}
      />
    </div>
  )
}

interface ValueFieldProps {
  entry: Entry
  label: string
  error: string | undefined
  onChange(entry: Entry): void
}

function ValueField({ entry, label, error, onChange }: ValueFieldProps) {
  const texts = useKnowledgeTexts().metadata
  const set = (text: string) => onChange({ ...entry, text })
  if (entry.kind === 'boolean') {
    const options = [
      { id: 'true' as const, label: texts.yes },
      { id: 'false' as const, label: texts.no },
    ]
    return (
      <Select label={label} hidesLabel value={entry.text as 'true' | 'false'} options={options} error={error} onChange={set} />
    )
  }
  return (
    <TextField
      label={label}
      hidesLabel
      placeholder={entry.kind === 'list' ? texts.listText : texts.value}
      value={entry.text}
      error={error}
      onChange={set}
      {...(entry.kind === 'list' && { rows: 2 })}
      {...(entry.kind === 'number' && { inputMode: 'decimal' as const })}
    />
  )
}
