import './button.css'
import type { ReactNode } from 'react'
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button'
import { Link as AriaLink, type LinkProps as AriaLinkProps } from 'react-aria-components/Link'
import { Icon, type IconName } from './icon.tsx'
import { Spinner } from './progress.tsx'
import { Tooltip } from './tooltip.tsx'

interface Look {
  /** `primary` is the main action of the page: one at most. */
  look?: 'primary' | 'plain' | 'quiet' | 'danger'
  size?: 'small' | 'usual'
  icon?: IconName
}

const classOf = ({ look = 'plain', size = 'usual' }: Look, more = '') => `button button-${look} button-${size} ${more}`

export interface ButtonProps extends Omit<AriaButtonProps, 'children' | 'className' | 'style'>, Look {
  children: ReactNode
  /** The action is running: the button has the same size and focus, and cannot be pressed. */
  isBusy?: boolean
  className?: string
}

export function Button({ look, size, icon, isBusy = false, children, className, ...props }: ButtonProps) {
  return (
    <AriaButton {...props} isPending={isBusy} className={classOf({ ...(look && { look }), ...(size && { size }) }, className)}>
      {icon !== undefined && <Icon name={icon} />}
      <span className="button-label">{children}</span>
      {isBusy && <Spinner />}
    </AriaButton>
  )
}

export interface IconButtonProps extends Omit<AriaButtonProps, 'children' | 'className' | 'style'>, Omit<Look, 'icon'> {
  icon: IconName
  /** Describes the action: the accessible name and the tooltip. */
  label: string
  className?: string
  /** Shown next to the name in the tooltip, e.g. the keyboard shortcut. */
  hint?: ReactNode
}

export function IconButton({ icon, label, look = 'quiet', size, className = '', hint, ...props }: IconButtonProps) {
  return (
    <Tooltip
      text={
        hint === undefined ? (
          label
        ) : (
          <>
            {label} {hint}
          </>
        )
      }
    >
      <AriaButton {...props} aria-label={label} className={classOf({ look, ...(size && { size }) }, `button-icon ${className}`)}>
        <Icon name={icon} size={size === 'small' ? 15 : 17} />
      </AriaButton>
    </Tooltip>
  )
}

export interface LinkButtonProps extends Omit<AriaLinkProps, 'children' | 'className' | 'style'>, Look {
  href: string
  children: ReactNode
  className?: string
}

/** A link to a page that looks like a button. */
export function LinkButton({ look, size, icon, children, className, ...props }: LinkButtonProps) {
  return (
    <AriaLink {...props} className={classOf({ ...(look && { look }), ...(size && { size }) }, className)}>
      {icon !== undefined && <Icon name={icon} />}
      <span className="button-label">{children}</span>
    </AriaLink>
  )
}
