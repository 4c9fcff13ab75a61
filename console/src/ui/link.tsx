import './link.css'
import type { ReactNode } from 'react'
import { Link as AriaLink, type LinkProps as AriaLinkProps } from 'react-aria-components/Link'
import { Icon } from './icon.tsx'
import { useUiTexts } from './texts.ts'

export interface LinkProps extends Omit<AriaLinkProps, 'children' | 'className' | 'style'> {
  /** A page of the console begins with `/`. */
  href: string
  children: ReactNode
  className?: string
}

export const Link = ({ className = '', ...props }: LinkProps) => <AriaLink {...props} className={`link ${className}`} />

/** From a page to the one that it belongs to: stands above its heading. */
export const BackLink = ({ children, ...props }: LinkProps) => (
  <Link {...props} className="link-back">
    <Icon name="start" size={14} />
    {children}
  </Link>
)

/** Leads out of the console, and tells the other side nothing of it. Only addresses of the web become links. */
export function OutsideLink({ href, children, className = '' }: { href: string; children: ReactNode; className?: string }) {
  const texts = useUiTexts()
  if (!/^https?:\/\//i.test(href)) return <span className="as-written">{children}</span>
  return (
    <a className={`link link-outside ${className}`} href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
      <Icon name="external" size={13} />
      <span className="hidden-visually"> ({texts.opensElsewhere})</span>
    </a>
  )
}
