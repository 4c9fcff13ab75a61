import { type ComponentType, lazy } from 'react'
import type { Scope } from '../session/rights.ts'
import type { IconName } from '../ui/icon.tsx'

/** Props of every page. */
export interface PageProps {
  /** Set on pages of an agent; empty on other pages. */
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
/** Groups of the navigation, in display order. */
export type Group = 'main' | 'agent' | 'service'

export interface PageRoute {
  noun: Noun
  /** A wouter pattern. With `/*?` the page has subpages and selects one with `useRoute`. */
  path: string
  Page: ComponentType<PageProps>
  /** The scope that the key needs. */
  needs?: Scope
  /** Entry in the navigation; a page without one is reached from other pages. */
  nav?: { group: Group; icon: IconName; href: (agentId: string) => string /** Pressed after `g`. */; shortcut?: string }
}

/** Retry functions of the pages whose code could not be fetched. */
const failed = new Set<() => void>()

/** Retries the pages whose code could not be fetched. */
export function fetchAnew(): void {
  for (const begin of failed) begin()
  failed.clear()
}

/** A lazy page: its code is fetched when it is first shown. */
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

interface Below {
  load: Parameters<typeof page>[0]
  needs: Scope
  icon: IconName
  shortcut: string
  /** The page has subpages. */
  isFolder?: boolean
}

/** Builds the route of a page in the navigation: below an agent, or at the top level for the service. */
const below =
  (group: 'agent' | 'service', base: string) =>
  (noun: Noun, { load, needs, icon, shortcut, isFolder = false }: Below): PageRoute => ({
    noun,
    path: `${base}/${noun}${isFolder ? '/*?' : ''}`,
    Page: page(load),
    needs,
    nav: { group, icon, shortcut, href: (agentId) => `${base.replace(':agentId', agentId)}/${noun}` },
  })
const ofAgent = below('agent', '/agents/:agentId')
const ofService = below('service', '')

/** All pages, each loaded when it is first opened. */
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
    nav: { group: 'agent', icon: 'setup', href: (agentId) => `/agents/${agentId}`, shortcut: 's' },
  },
  ofAgent('knowledge', {
    load: () => import('../pages/knowledge/index.tsx'),
    needs: 'knowledge',
    icon: 'knowledge',
    shortcut: 'k',
    isFolder: true,
  }),
  ofAgent('playground', {
    load: () => import('../pages/playground/index.tsx'),
    needs: 'chat',
    icon: 'playground',
    shortcut: 'p',
    isFolder: true,
  }),
  ofAgent('conversations', {
    load: () => import('../pages/conversations/index.tsx'),
    needs: 'read',
    icon: 'conversations',
    shortcut: 'c',
    isFolder: true,
  }),
  ofAgent('insights', { load: () => import('../pages/insights/index.tsx'), needs: 'knowledge', icon: 'insights', shortcut: 'i' }),
  ofAgent('users', { load: () => import('../pages/users/index.tsx'), needs: 'admin', icon: 'users', shortcut: 'u' }),
  ofAgent('embed', { load: () => import('../pages/embed/index.tsx'), needs: 'chat', icon: 'code', shortcut: 'm' }),
  ofService('keys', { load: () => import('../pages/keys/index.tsx'), needs: 'admin', icon: 'keys', shortcut: 'y' }),
  ofService('webhooks', {
    load: () => import('../pages/webhooks/index.tsx'),
    needs: 'admin',
    icon: 'bell',
    shortcut: 'w',
    isFolder: true,
  }),
  ofService('usage', { load: () => import('../pages/usage/index.tsx'), needs: 'admin', icon: 'gauge', shortcut: 'b' }),
  ofService('audit', { load: () => import('../pages/audit/index.tsx'), needs: 'admin', icon: 'clock', shortcut: 'l' }),
  ofService('system', { load: () => import('../pages/system/index.tsx'), needs: 'admin', icon: 'pulse', shortcut: 't' }),
]
