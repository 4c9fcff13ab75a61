import './button.css'
import type { ReactNode } from 'react'
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button'
import { Link as AriaLink, type LinkProps as AriaLinkProps } from 'react-aria-components/Link'
import { Icon, type IconName } from './icon.tsx'
import { Spinner } from './progress.tsx'
import { Tooltip } from './tooltip.tsx'

interface Look {
  /** `primary` is what the page is for: one of it, at most. */
  look?: 'primary' | 'plain' | 'quiet' | 'danger'
  size?: 'small' | 'usual'
  icon?: IconName
}

const classOf = ({ look = 'plain', size = 'usual' }: Look, more = '') => `button button-${look} button-${size} ${more}`

export interface ButtonProps extends Omit<AriaButtonProps, 'children' | 'className' | 'style'>, Look {
  children: ReactNode
  /** Its work is under way: it keeps its size and its focus, and cannot be pressed. */
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
  /** What it does: its name for all who do not see it, and its tooltip. */
  label: string
  className?: string
  /** Beside the name, e.g. the keys that do the same. */
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

/** Looks like a button and leads to a page. */
export function LinkButton({ look, size, icon, children, className, ...props }: LinkButtonProps) {
  return (
    <AriaLink {...props} className={classOf({ ...(look && { look }), ...(size && { size }) }, className)}>
      {icon !== undefined && <Icon name={icon} />}
      <span className="button-label">{children}</span>
    </AriaLink>
  )
}
