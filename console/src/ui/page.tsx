import './page.css'
import { type ReactNode, useEffect, useRef } from 'react'
import { hasNavigated } from '../routing/location.ts'

interface PageProps {
  /** Its heading; short, and there from the first moment. */
  title: string
  /** In the title of the window, behind the heading: e.g. the name of the agent. */
  of?: string | undefined
  description?: ReactNode
  /** Above the heading: where it belongs. */
  above?: ReactNode
  /** Of the page as a whole, at the end of its head. */
  actions?: ReactNode
  children: ReactNode
  /** `wide`: as wide as the window, for tables. `narrow`: for reading and forms. */
  width?: 'narrow' | 'usual' | 'wide'
}

/** A page: its title, its head, its content. The heading takes the focus when the reader came here by a link. */
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
