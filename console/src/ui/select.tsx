import './field.css'
import './overlay.css'
import type { ReactNode } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select'
import { FieldFoot, FieldLabel, type FieldParts } from './field.tsx'
import { Icon } from './icon.tsx'

export interface Option<V extends string = string> {
  id: V
  label: string
  description?: ReactNode
}

export interface SelectProps<V extends string> extends FieldParts {
  options: readonly Option<V>[]
  value: V | undefined
  onChange(value: NoInfer<V>): void
  isDisabled?: boolean
  isRequired?: boolean
}

/** Selects one of a few options. For many options or free text, use `ComboBox`. */
export function Select<V extends string>({
  label,
  description,
  error,
  hidesLabel = false,
  options,
  value,
  onChange,
  placeholder,
  ...props
}: SelectProps<V>) {
  return (
    <AriaSelect
      {...props}
      {...(hidesLabel && { 'aria-label': label })}
      {...(placeholder !== undefined && { placeholder })}
      value={value ?? null}
      onChange={(key) => key !== null && onChange(key as V)}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className="field"
    >
      {!hidesLabel && <FieldLabel isRequired={props.isRequired === true}>{label}</FieldLabel>}
      <AriaButton className="input select-button">
        <SelectValue className="select-value clip">
          {({ selectedText, defaultChildren }) => selectedText || defaultChildren}
        </SelectValue>
        <Icon name="upDown" size={15} className="muted" />
      </AriaButton>
      <FieldFoot description={description} error={error} />
      <Popover className="popover" offset={5}>
        <OptionList options={options} />
      </Popover>
    </AriaSelect>
  )
}

export function OptionList({ options, empty }: { options: readonly Option[]; empty?: string }) {
  return (
    <ListBox items={options} className="options" renderEmptyState={() => <p className="options-empty">{empty}</p>}>
      {(option) => (
        <ListBoxItem id={option.id} textValue={option.label} className="option">
          {({ isSelected }) => (
            <>
              <span className="option-text">
                <span className="as-written">{option.label}</span>
                {option.description !== undefined && <span className="option-description">{option.description}</span>}
              </span>
              {isSelected && <Icon name="check" size={15} />}
            </>
          )}
        </ListBoxItem>
      )}
    </ListBox>
  )
}
