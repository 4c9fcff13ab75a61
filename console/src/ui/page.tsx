import './page.css'
import { type ReactNode, useEffect, useRef } from 'react'
import { hasNavigated } from '../routing/location.ts'

interface PageProps {
  /** The heading; short, and known on the first render. */
  title: string
  /** Shown after the heading in the title of the window, e.g. the name of the agent. */
  of?: string | undefined
  description?: ReactNode
  /** Shown above the heading: a link to the parent page. */
  above?: ReactNode
  /** Actions of the whole page, at the end of the header. */
  actions?: ReactNode
  children: ReactNode
  /** `wide`: the full width of the window, for tables. `narrow`: for text and forms. */
  width?: 'narrow' | 'usual' | 'wide'
}

/** A page with title, header and content. The heading takes the focus if the reader came by a link. */
export function Page({ title, of, description, above, actions, children, width = 'usual' }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = [title, of, 'Repartee'].filter((part) => part !== undefined && part !== '').join(' · ')
  }, [title, of])
  useEffect(() => {
    if (hasNavigated()) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <div className={`page page-${width}`}>
      <header className="page-head">
        <div className="page-words">
          {above}
          <h1 ref={heading} tabIndex={-1} className="page-title">
            {title}
          </h1>
          {description !== undefined && <p className="page-description">{description}</p>}
        </div>
        {actions !== undefined && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  )
}
