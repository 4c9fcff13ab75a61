import './list-editor.css'
import { useLayoutEffect, useRef } from 'react'
import { Button, IconButton } from './button.tsx'
import { TextField } from './field.tsx'
import { useUiTexts } from './texts.ts'

interface ListEditorProps {
  label: string
  description?: string
  items: readonly string[]
  onChange(items: string[]): void
  /** Label of the button that adds an item: `Add a question`. */
  addLabel: string
  placeholder?: string
  max?: number
  /** Errors by position in the list; `''` applies to the whole list. */
  errors?: Record<string, string>
  isCode?: boolean
  isDisabled?: boolean
}

/** Edits a list of texts, one per line. Enter moves to the next line. */
export function ListEditor({
  label,
  description,
  items,
  onChange,
  addLabel,
  placeholder,
  max = 100,
  errors = {},
  isCode = false,
  isDisabled = false,
}: ListEditorProps) {
  const texts = useUiTexts()
  const list = useRef<HTMLFieldSetElement>(null)
  // Finds the element that gets the focus after the next render, before the next key is pressed.
  const wanted = useRef<() => HTMLElement | null | undefined>(undefined)
  useLayoutEffect(() => {
    wanted.current?.()?.focus()
    wanted.current = undefined
  })
  const lineAt = (line: number) => () => list.current?.querySelectorAll('input')[line]
  const add = () => {
    wanted.current = lineAt(items.length)
    onChange([...items, ''])
  }
  const remove = (line: number) => {
    const next = Math.min(line, items.length - 2)
    wanted.current = next >= 0 ? lineAt(next) : () => list.current?.querySelector('button')
    onChange(items.filter((_, i) => i !== line))
  }
  return (
    <fieldset ref={list} className="field list-editor" disabled={isDisabled}>
      <legend className="field-label">{label}</legend>
      {description !== undefined && <p className="field-description">{description}</p>}
      {items.map((item, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id, only a position
        <div key={line} className="list-editor-line">
          <TextField
            label={texts.itemNumber(label, line + 1)}
            hidesLabel
            value={item}
            isDisabled={isDisabled}
            isCode={isCode}
            {...(placeholder !== undefined && { placeholder })}
            error={errors[String(line)]}
            onChange={(text) => onChange(items.map((one, i) => (i === line ? text : one)))}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
              event.preventDefault()
              if (line + 1 < items.length) lineAt(line + 1)()?.focus()
              else if (items.length < max && item !== '') add()
            }}
          />
          <IconButton
            icon="close"
            label={texts.remove(texts.itemNumber(label, line + 1))}
            size="small"
            isDisabled={isDisabled}
            onPress={() => remove(line)}
          />
        </div>
      ))}
      {errors[''] !== undefined && <p className="field-error">{errors['']}</p>}
      {items.length < max && (
        <Button size="small" icon="plus" className="list-editor-add" isDisabled={isDisabled} onPress={add}>
          {addLabel}
        </Button>
      )}
    </fieldset>
  )
}
