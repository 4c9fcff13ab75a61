import './states.css'
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

const ICONS = { neutral: 'info', good: 'good', warn: 'warning', bad: 'bad' } as const satisfies Record<string, IconName>

/** A short notice in the page. With `isAlert`, screen readers announce it when it appears. */
export function Note({
  tone = 'neutral',
  title,
  children,
  isAlert = false,
  actions,
}: {
  tone?: keyof typeof ICONS
  title?: string
  children?: ReactNode
  isAlert?: boolean
  actions?: ReactNode
}) {
  return (
    <div className={`note note-${tone}`} {...(isAlert && { role: 'alert' })}>
      <Icon name={ICONS[tone]} />
      <div className="note-words">
        {title !== undefined && <span className="note-title">{title}</span>}
        {children}
        {actions !== undefined && <div className="row">{actions}</div>}
      </div>
    </div>
  )
}
