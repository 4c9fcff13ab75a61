import './card.css'
import { type ReactNode, useId } from 'react'

interface CardProps {
  title?: ReactNode
  description?: ReactNode
  /** Shown at the end of the header. */
  actions?: ReactNode
  children?: ReactNode
  /** The content has no padding, e.g. a table. */
  isFlush?: boolean
  /** Shown below a line at the end, e.g. the save button. */
  foot?: ReactNode
  className?: string
}

/** A section of a page. With a title it is a landmark that screen readers can jump to. */
export function Card({ title, description, actions, children, isFlush = false, foot, className = '' }: CardProps) {
  const id = useId()
  const head = title !== undefined && (
    <div className="card-head">
      <div className="card-words">
        <h2 id={id} className="card-title">
          {title}
        </h2>
        {description !== undefined && <p className="card-description">{description}</p>}
      </div>
      {actions !== undefined && <div className="row">{actions}</div>}
    </div>
  )
  return (
    <section className={`card ${className}`} {...(title !== undefined && { 'aria-labelledby': id })}>
      {head}
      {children !== undefined && <div className={isFlush ? 'card-flush' : 'card-body'}>{children}</div>}
      {foot !== undefined && <div className="card-foot">{foot}</div>}
    </section>
  )
}
