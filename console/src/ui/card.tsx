import './card.css'
import { type ReactNode, useId } from 'react'

interface CardProps {
  title?: ReactNode
  description?: ReactNode
  /** At the end of the head. */
  actions?: ReactNode
  children?: ReactNode
  /** Its content reaches its edges, e.g. a table. */
  isFlush?: boolean
  /** Under a line at its end, e.g. the button that saves it. */
  foot?: ReactNode
  className?: string
}

/** A part of a page. With a title it is a region that can be jumped to. */
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
