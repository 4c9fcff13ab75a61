import './toggle.css'
import type { ReactNode } from 'react'
import { Checkbox as AriaCheckbox, type CheckboxProps as AriaCheckboxProps } from 'react-aria-components/Checkbox'
import { Label } from 'react-aria-components/Label'
import { RadioGroup as AriaRadioGroup, Radio } from 'react-aria-components/RadioGroup'
import { Switch as AriaSwitch, type SwitchProps as AriaSwitchProps } from 'react-aria-components/Switch'
import { Icon } from './icon.tsx'

interface ToggleParts {
  label: string
  description?: ReactNode
  hidesLabel?: boolean
}

const Words = ({ label, description }: ToggleParts) => (
  <span className="toggle-words">
    <span>{label}</span>
    {description !== undefined && <span className="field-description">{description}</span>}
  </span>
)

/** Takes effect at once, or when the form around it is submitted. */
export function Switch({
  label,
  description,
  hidesLabel = false,
  ...props
}: Omit<AriaSwitchProps, 'children' | 'className' | 'style'> & ToggleParts) {
  return (
    <AriaSwitch {...props} {...(hidesLabel && { 'aria-label': label })} className="toggle">
      <span className="switch" aria-hidden="true" />
      {!hidesLabel && <Words label={label} description={description} />}
    </AriaSwitch>
  )
}

export function Checkbox({
  label,
  description,
  hidesLabel = false,
  ...props
}: Omit<AriaCheckboxProps, 'children' | 'className' | 'style'> & ToggleParts) {
  return (
    <AriaCheckbox {...props} {...(hidesLabel && { 'aria-label': label })} className="toggle">
      {({ isIndeterminate }) => (
        <>
          <span className="checkbox" aria-hidden="true">
            <Icon name={isIndeterminate ? 'minus' : 'check'} size={13} />
          </span>
          {!hidesLabel && <Words label={label} description={description} />}
        </>
      )}
    </AriaCheckbox>
  )
}

export interface Choice<V extends string> {
  id: V
  label: string
  description?: ReactNode
}

/** Selects one of a few options, all visible at once. */
export function RadioGroup<V extends string>({
  label,
  choices,
  value,
  onChange,
  hidesLabel = false,
}: {
  label: string
  choices: readonly Choice<V>[]
  value: V
  onChange(value: NoInfer<V>): void
  hidesLabel?: boolean
}) {
  return (
    <AriaRadioGroup
      value={value}
      onChange={(next) => onChange(next as V)}
      {...(hidesLabel && { 'aria-label': label })}
      className="field radios"
    >
      {!hidesLabel && <Label className="field-label">{label}</Label>}
      {choices.map((choice) => (
        <Radio key={choice.id} value={choice.id} className="toggle">
          <span className="radio" aria-hidden="true" />
          <Words label={choice.label} description={choice.description} />
        </Radio>
      ))}
    </AriaRadioGroup>
  )
}
