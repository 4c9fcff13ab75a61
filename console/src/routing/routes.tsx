import { type ComponentType, lazy } from 'react'
import type { Scope } from '../session/rights.ts'
import type { IconName } from '../ui/icon.tsx'

/** What every page is given. */
export interface PageProps {
  /** Of pages of an agent; empty on others. */
  agentId: string
}

export type Noun =
  | 'overview'
  | 'agents'
  | 'setup'
  | 'knowledge'
  | 'playground'
  | 'conversations'
  | 'insights'
  | 'users'
  | 'keys'
  | 'embed'
  | 'webhooks'
  | 'usage'
  | 'audit'
  | 'system'
/** Groups of the navigation, in their order. */
export type Group = 'main' | 'agent' | 'service'

export interface PageRoute {
  noun: Noun
  /** As wouter matches it, below the base. With `/*?` the page has pages below it, which it tells apart with `useRoute`. */
  path: string
  Page: ComponentType<PageProps>
  /** What the key must be allowed. */
  needs?: Scope
  /** In the navigation; pages without it are reached from others. */
  nav?: { group: Group; icon: IconName; href: (agentId: string) => string /** Behind `g`. */; shortcut?: string }
}

/** Of the pages whose code could not be fetched. */
const failed = new Set<() => void>()

/** Lets pages whose code could not be fetched begin anew. */
export function fetchAnew(): void {
  for (const begin of failed) begin()
  failed.clear()
}

/** A page whose code is fetched when it is first shown. */
function page(load: () => Promise<{ default: ComponentType<PageProps> }>): ComponentType<PageProps> {
  const begin = () => {
    Loaded = lazy(() =>
      load().catch((error) => {
        failed.add(begin)
        throw error
      }),
    )
  }
  let Loaded: ComponentType<PageProps>
  begin()
  return (props) => <Loaded {...props} />
}

const ofAgent = (path: string) => (agentId: string) => `/agents/${agentId}${path}`

/** All pages, each fetched when it is first opened. */
export const routes: readonly PageRoute[] = [
  {
    noun: 'overview',
    path: '/',
    Page: page(() => import('../pages/overview/index.tsx')),
    nav: { group: 'main', icon: 'home', href: () => '/', shortcut: 'h' },
  },
  {
    noun: 'agents',
    path: '/agents',
    Page: page(() => import('../pages/agents/index.tsx')),
    nav: { group: 'main', icon: 'agents', href: () => '/agents', shortcut: 'a' },
  },
  { noun: 'agents', path: '/agents/new', Page: page(() => import('../pages/agents/new.tsx')), needs: 'admin' },
  {
    noun: 'setup',
    path: '/agents/:agentId',
    Page: page(() => import('../pages/agents/edit.tsx')),
    needs: 'admin',
    nav: { group: 'agent', icon: 'setup', href: ofAgent(''), shortcut: 's' },
  },
  {
    noun: 'knowledge',
    path: '/agents/:agentId/knowledge/*?',
    Page: page(() => import('../pages/knowledge/index.tsx')),
    needs: 'knowledge',
    nav: { group: 'agent', icon: 'knowledge', href: ofAgent('/knowledge'), shortcut: 'k' },
  },
  {
    noun: 'playground',
    path: '/agents/:agentId/playground/*?',
    Page: page(() => import('../pages/playground/index.tsx')),
    needs: 'chat',
    nav: { group: 'agent', icon: 'playground', href: ofAgent('/playground'), shortcut: 'p' },
  },
  {
    noun: 'conversations',
    path: '/agents/:agentId/conversations/*?',
    Page: page(() => import('../pages/conversations/index.tsx')),
    needs: 'read',
    nav: { group: 'agent', icon: 'conversations', href: ofAgent('/conversations'), shortcut: 'c' },
  },
  {
    noun: 'insights',
    path: '/agents/:agentId/insights/*?',
    Page: page(() => import('../pages/insights/index.tsx')),
    needs: 'knowledge',
    nav: { group: 'agent', icon: 'insights', href: ofAgent('/insights'), shortcut: 'i' },
  },
  {
    noun: 'users',
    path: '/agents/:agentId/users',
    Page: page(() => import('../pages/users/index.tsx')),
    needs: 'admin',
    nav: { group: 'agent', icon: 'users', href: ofAgent('/users'), shortcut: 'u' },
  },
  {
    noun: 'embed',
    path: '/agents/:agentId/embed',
    Page: page(() => import('../pages/embed/index.tsx')),
    needs: 'chat',
    nav: { group: 'agent', icon: 'code', href: ofAgent('/embed'), shortcut: 'm' },
  },
  {
    noun: 'keys',
    path: '/keys',
    Page: page(() => import('../pages/keys/index.tsx')),
    needs: 'admin',
    nav: { group: 'service', icon: 'keys', href: () => '/keys', shortcut: 'y' },
  },
  {
    noun: 'webhooks',
    path: '/webhooks/*?',
    Page: page(() => import('../pages/webhooks/index.tsx')),
    needs: 'admin',
    nav: { group: 'service', icon: 'bell', href: () => '/webhooks', shortcut: 'w' },
  },
  {
    noun: 'usage',
    path: '/usage',
    Page: page(() => import('../pages/usage/index.tsx')),
    needs: 'admin',
    nav: { group: 'service', icon: 'gauge', href: () => '/usage', shortcut: 'b' },
  },
  {
    noun: 'audit',
    path: '/audit',
    Page: page(() => import('../pages/audit/index.tsx')),
    needs: 'admin',
    nav: { group: 'service', icon: 'clock', href: () => '/audit', shortcut: 'l' },
  },
  {
    noun: 'system',
    path: '/system',
    Page: page(() => import('../pages/system/index.tsx')),
    needs: 'admin',
    nav: { group: 'service', icon: 'pulse', href: () => '/system', shortcut: 't' },
  },
]
