import './states.css'
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

/** Shown if there is no content yet: says what will be here, and what to do next. */
export function EmptyState({
  icon,
  title,
  children,
  actions,
}: {
  icon: IconName
  title: string
  children?: ReactNode
  actions?: ReactNode
}) {
  return (
    <div className="empty">
      <span className="empty-icon">
        <Icon name={icon} size={22} />
      </span>
      <h2>{title}</h2>
      {children !== undefined && <p className="muted">{children}</p>}
      {actions !== undefined && <div className="row empty-actions">{actions}</div>}
    </div>
  )
}
