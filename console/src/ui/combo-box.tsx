import './field.css'
import './overlay.css'
import { Button as AriaButton } from 'react-aria-components/Button'
import { ComboBox as AriaComboBox } from 'react-aria-components/ComboBox'
import { Group } from 'react-aria-components/Group'
import { Input } from 'react-aria-components/Input'
import { Popover } from 'react-aria-components/Popover'
import { FieldFoot, FieldLabel, type FieldParts } from './field.tsx'
import { Icon } from './icon.tsx'
import { type Option, OptionList } from './select.tsx'
import { useUiTexts } from './texts.ts'

export interface ComboBoxProps extends FieldParts {
  options: readonly Option[]
  /** Text of the field. */
  value: string
  /** Called for every keystroke and every selection. */
  onChange(value: string): void
  isRequired?: boolean
  isDisabled?: boolean
}

/** A text field with suggestions. Typing filters the list; text that is not in the list is allowed. */
export function ComboBox({
  label,
  description,
  error,
  hidesLabel = false,
  options,
  value,
  onChange,
  placeholder,
  ...props
}: ComboBoxProps) {
  const texts = useUiTexts()
  return (
    <AriaComboBox
      {...props}
      {...(hidesLabel && { 'aria-label': label })}
      items={options}
      inputValue={value}
      onInputChange={onChange}
      onChange={(key) => key !== null && onChange(String(key))}
      allowsCustomValue
      menuTrigger="focus"
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className="field"
    >
      {!hidesLabel && <FieldLabel isRequired={props.isRequired === true}>{label}</FieldLabel>}
      <Group className="input input-group">
        <Input className="input-bare" dir="auto" {...(placeholder !== undefined && { placeholder })} />
        <AriaButton className="input-step" aria-label={texts.options}>
          <Icon name="down" size={14} />
        </AriaButton>
      </Group>
      <FieldFoot description={description} error={error} />
      <Popover className="popover" offset={5}>
        <OptionList options={options} empty={texts.noOptions} />
      </Popover>
    </AriaComboBox>
  )
}
