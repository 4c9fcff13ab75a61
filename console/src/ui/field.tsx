import './field.css'
import type { ReactNode } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { FieldError as AriaFieldError } from 'react-aria-components/FieldError'
import { Group } from 'react-aria-components/Group'
import { Input } from 'react-aria-components/Input'
import { Label as AriaLabel } from 'react-aria-components/Label'
import { NumberField as AriaNumberField, type NumberFieldProps as AriaNumberFieldProps } from 'react-aria-components/NumberField'
import { SearchField as AriaSearchField, type SearchFieldProps as AriaSearchFieldProps } from 'react-aria-components/SearchField'
import { Text } from 'react-aria-components/Text'
import { TextArea as AriaTextArea } from 'react-aria-components/TextArea'
import { TextField as AriaTextField, type TextFieldProps as AriaTextFieldProps } from 'react-aria-components/TextField'
import { Icon } from './icon.tsx'
import { useUiTexts } from './texts.ts'

/** Parts that every field has around its control. */
export interface FieldParts {
  label: string
  /** Says what the value is for, or which format it has. */
  description?: ReactNode
  /** The error message for the value, from the service or the page. */
  error?: string | undefined
  placeholder?: string
  /** The label is available to screen readers only. */
  hidesLabel?: boolean
}

type Own<P> = Omit<P, 'children' | 'className' | 'style' | 'isInvalid' | 'validationBehavior'> & FieldParts

export function FieldLabel({ children, isRequired = false }: { children: ReactNode; isRequired?: boolean }) {
  const texts = useUiTexts()
  return (
    <AriaLabel className="field-label">
      {children}
      {isRequired && <span className="field-required">{texts.required}</span>}
    </AriaLabel>
  )
}

export function FieldFoot({ description, error }: Pick<FieldParts, 'description' | 'error'>) {
  return (
    <>
      {description !== undefined && (
        <Text slot="description" className="field-description">
          {description}
        </Text>
      )}
      <AriaFieldError className="field-error">{error}</AriaFieldError>
    </>
  )
}

export interface TextFieldProps extends Own<AriaTextFieldProps> {
  /** Number of visible lines of a multiline field, which grows with its text. */
  rows?: number
  /** Uses the code font. */
  isCode?: boolean
}

/** A text field of one line, or of several with `rows`. */
export function TextField({
  label,
  description,
  error,
  placeholder,
  hidesLabel = false,
  rows,
  isCode = false,
  ...props
}: TextFieldProps) {
  const className = `input ${isCode ? 'mono' : ''}`
  const hint = placeholder === undefined ? {} : { placeholder }
  return (
    <AriaTextField
      {...props}
      {...(hidesLabel && { 'aria-label': label })}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className="field"
    >
      {!hidesLabel && <FieldLabel isRequired={props.isRequired === true}>{label}</FieldLabel>}
      {rows === undefined ? (
        <Input {...hint} dir="auto" className={className} />
      ) : (
        <AriaTextArea
          {...hint}
          rows={rows}
          style={{ '--rows': rows } as React.CSSProperties}
          dir="auto"
          className={`${className} input-area`}
        />
      )}
      <FieldFoot description={description} error={error} />
    </AriaTextField>
  )
}

export type NumberFieldProps = Own<AriaNumberFieldProps> & { unit?: string }

/** `value` is NaN if the field is empty. */
export function NumberField({ label, description, error, placeholder, hidesLabel = false, unit, ...props }: NumberFieldProps) {
  const texts = useUiTexts()
  return (
    <AriaNumberField
      {...props}
      {...(hidesLabel && { 'aria-label': label })}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className="field"
    >
      {!hidesLabel && <FieldLabel isRequired={props.isRequired === true}>{label}</FieldLabel>}
      <Group className="input input-group">
        <Input className="input-bare numbers" {...(placeholder !== undefined && { placeholder })} />
        {unit !== undefined && <span className="input-unit">{unit}</span>}
        <AriaButton slot="decrement" className="input-step" aria-label={texts.decrease}>
          <Icon name="minus" size={13} />
        </AriaButton>
        <AriaButton slot="increment" className="input-step" aria-label={texts.increase}>
          <Icon name="plus" size={13} />
        </AriaButton>
      </Group>
      <FieldFoot description={description} error={error} />
    </AriaNumberField>
  )
}

export type SearchFieldProps = Own<AriaSearchFieldProps> & {
  /** The results are in a list box next to the field; the arrow keys move through them. */
  isOverList?: boolean
}

export function SearchField({
  label,
  description,
  error,
  placeholder,
  hidesLabel = true,
  isOverList = false,
  ...props
}: SearchFieldProps) {
  const texts = useUiTexts()
  return (
    <AriaSearchField
      {...props}
      {...(hidesLabel && { 'aria-label': label })}
      isInvalid={error !== undefined}
      className="field field-search"
    >
      {!hidesLabel && <FieldLabel>{label}</FieldLabel>}
      <Group className="input input-group">
        <Icon name="search" size={15} className="input-icon" />
        <Input
          className="input-bare"
          dir="auto"
          placeholder={placeholder ?? label}
          {...(isOverList && { role: 'combobox', 'aria-expanded': true, 'aria-haspopup': 'listbox' as const })}
        />
        <AriaButton className="input-step" aria-label={texts.clear}>
          <Icon name="close" size={13} />
        </AriaButton>
      </Group>
      <FieldFoot description={description} error={error} />
    </AriaSearchField>
  )
}
