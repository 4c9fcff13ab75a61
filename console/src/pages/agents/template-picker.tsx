import './templates.css'
import { Label } from 'react-aria-components/Label'
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { useAgentTexts } from './texts.ts'

const ICONS = {
  documentation: 'code',
  support: 'support',
  handbook: 'building',
  teacher: 'teacher',
  blank: 'blank',
} as const satisfies Record<string, IconName>

export type TemplateId = keyof typeof ICONS
const ids = Object.keys(ICONS) as TemplateId[]

/** Selects the template of a new agent. */
export function TemplatePicker({ value, onChange }: { value: TemplateId; onChange(id: TemplateId): void }) {
  const texts = useAgentTexts()
  return (
    <RadioGroup className="templates" value={value} onChange={(id) => onChange(id as TemplateId)} orientation="horizontal">
      <Label className="field-label">{texts.create.template}</Label>
      <div className="templates-grid">
        {ids.map((id) => (
          <Radio key={id} value={id} className="template">
            <Icon name={ICONS[id]} size={20} />
            <span className="template-label">{texts.templates[id].label}</span>
            <span className="template-text">{texts.templates[id].text}</span>
          </Radio>
        ))}
      </div>
    </RadioGroup>
  )
}
