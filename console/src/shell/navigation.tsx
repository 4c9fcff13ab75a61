import { Link, useLocation } from 'wouter'
import { type Group, type PageRoute, routes } from '../routing/routes.tsx'
import type { Rights } from '../session/rights.ts'
import { useRights } from '../session/session.tsx'
import { Icon } from '../ui/icon.tsx'
import { useCurrentAgentId } from './current-agent.ts'
import { useShellTexts } from './texts.ts'

/** An entry of the navigation that the current key may use. */
export interface Place {
  route: PageRoute
  group: Group
  href: string
  label: string
}

/** Returns the first page of an agent that the key may use. */
export function homeOf(agentId: string, rights: Rights): string {
  const page = rights.can('admin')
    ? ''
    : rights.can('knowledge')
      ? '/knowledge'
      : rights.can('chat')
        ? '/playground'
        : '/conversations'
  return `/agents/${agentId}${page}`
}

/** Returns the pages that the key may use, with pages of an agent only if there is a current agent. */
export function usePlaces(): Place[] {
  const texts = useShellTexts()
  const rights = useRights()
  const agentId = useCurrentAgentId()
  return routes.flatMap((route) => {
    const { nav, needs, noun } = route
    if (nav === undefined || (needs !== undefined && !rights.can(needs))) return []
    if (nav.group === 'agent' && agentId === undefined) return []
    return [{ route, group: nav.group, href: nav.href(agentId ?? ''), label: texts.nav[noun] }]
  })
}

export function NavGroup({
  group,
  label,
  places,
  onFollow,
}: {
  group: Group
  label?: string
  places: Place[]
  onFollow?: (() => void) | undefined
}) {
  const [path] = useLocation()
  const shown = places.filter((place) => place.group === group)
  if (shown.length === 0) return null
  const isCurrent = ({ href, route }: Place) =>
    href === path || (route.path.endsWith('/*?') && path.startsWith(`${href}/`)) || (href === '/agents' && path === '/agents/new')
  return (
    <div className="nav-group">
      {label !== undefined && <h2 className="nav-heading">{label}</h2>}
      <ul>
        {shown.map((place) => (
          <li key={place.href}>
            <Link href={place.href} className="nav-link" aria-current={isCurrent(place) ? 'page' : undefined} onClick={onFollow}>
              <Icon name={place.route.nav!.icon} size={17} />
              {place.label}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}
