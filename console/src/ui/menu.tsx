import './overlay.css'
import type { ReactElement, ReactNode } from 'react'
import { Header } from 'react-aria-components/Header'
import {
  Menu as AriaMenu,
  MenuItem as AriaMenuItem,
  MenuSection as AriaMenuSection,
  MenuTrigger,
} from 'react-aria-components/Menu'
import { Popover } from 'react-aria-components/Popover'
import { Separator } from 'react-aria-components/Separator'
import { IconButton } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import { useUiTexts } from './texts.ts'

/** A button that opens a menu of items, sections and separators. */
export function Menu({ trigger, label, children }: { trigger: ReactElement; label: string; children: ReactNode }) {
  return (
    <MenuTrigger>
      {trigger}
      <Popover className="popover" offset={5}>
        <AriaMenu className="menu" aria-label={label}>
          {children}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  )
}

export interface MenuItemProps {
  children: string
  icon?: IconName
  onAction?(): void
  href?: string
  isDanger?: boolean
  hint?: ReactNode
}

export function MenuItem({ children, icon, isDanger = false, hint, ...props }: MenuItemProps) {
  return (
    <AriaMenuItem {...props} textValue={children} className={`option ${isDanger ? 'option-danger' : ''}`}>
      {icon !== undefined && <Icon name={icon} />}
      <span className="option-text">{children}</span>
      {hint}
    </AriaMenuItem>
  )
}

/** A menu section with one selected item, e.g. a theme. */
export function MenuChoice<V extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string
  options: readonly { id: V; label: string; icon?: IconName }[]
  value: V
  onChange(value: NoInfer<V>): void
}) {
  return (
    <AriaMenuSection
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={(keys) => keys !== 'all' && onChange([...keys][0] as V)}
    >
      <Header className="menu-heading">{label}</Header>
      {options.map((option) => (
        <AriaMenuItem key={option.id} id={option.id} textValue={option.label} className="option">
          {({ isSelected }) => (
            <>
              {option.icon !== undefined && <Icon name={option.icon} />}
              <span className="option-text">{option.label}</span>
              {isSelected && <Icon name="check" size={15} />}
            </>
          )}
        </AriaMenuItem>
      ))}
    </AriaMenuSection>
  )
}

export const MenuLine = () => <Separator className="menu-line" />

/** A menu with further actions of a row or a page; its button shows three dots. */
export function MoreMenu({ label, children }: { label?: string; children: ReactNode }) {
  const texts = useUiTexts()
  const name = label ?? texts.actions
  return (
    <Menu label={name} trigger={<IconButton icon="more" label={name} size="small" />}>
      {children}
    </Menu>
  )
}
