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
  /** Of the button that adds one: `Add a question`. */
  addLabel: string
  placeholder?: string
  max?: number
  /** By the place in the list; `''` is about the list as a whole. */
  errors?: Record<string, string>
  isCode?: boolean
  isDisabled?: boolean
}

/** A list of texts, edited line by line. Enter goes on to the next line. */
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
  // What takes the focus when the lines are drawn, before the next key is pressed.
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
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place alone
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
