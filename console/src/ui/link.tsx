import './link.css'
import type { ReactNode } from 'react'
import { Link as AriaLink, type LinkProps as AriaLinkProps } from 'react-aria-components/Link'
import { Icon } from './icon.tsx'
import { useUiTexts } from './texts.ts'

export interface LinkProps extends Omit<AriaLinkProps, 'children' | 'className' | 'style'> {
  /** An address that begins with `/` is a page of the console. */
  href: string
  children: ReactNode
  className?: string
}

export const Link = ({ className = '', ...props }: LinkProps) => <AriaLink {...props} className={`link ${className}`} />

/** A link above the heading of a page, to its parent page. */
export const BackLink = ({ children, ...props }: LinkProps) => (
  <Link {...props} className="link-back">
    <Icon name="start" size={14} />
    {children}
  </Link>
)

/** Links out of the console without a referrer or opener. Only `http` and `https` addresses become links. */
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
