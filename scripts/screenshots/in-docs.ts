import type { LookName } from './camera.ts'

interface Shot {
  /** Name of the picture. */
  name: string
  look: LookName
  size?: { width: number; height: number }
}

const WINDOW = { width: 1200, height: 700 }
/** Wide enough for the trial panel next to the setup, and for tables with many columns. */
const BESIDE = { width: 1280, height: 740 }
const LOW = { width: 1200, height: 560 }
const PHONE = { width: 360, height: 700 }
const SHOP = { width: 1100, height: 720 }

const inLight = (name: string, size = WINDOW): Shot[] => [{ name, look: 'light', size }]
const inDark = (name: string, size = WINDOW): Shot[] => [{ name, look: 'dark', size }]
const onPhones = (look: LookName, ...names: string[]): Shot[] => names.map((name) => ({ name, look, size: PHONE }))

/**
 * The pictures in the docs, by file below `docs/images`. Several shots are joined side by side.
 * The documentation site shows a file that ends with `-dark` in dark mode.
 */
export const inDocs: Record<string, Shot[]> = {
  'console/sign-in': inLight('sign-in', LOW),
  'console/overview': inLight('overview', LOW),
  'console/overview-dark': inDark('overview', LOW),
  'console/agents': inLight('agents', LOW),
  'console/new-agent': inLight('new-agent'),
  'console/setup': inLight('setup', BESIDE),
  'console/setup-dark': inDark('setup', BESIDE),
  'console/knowledge': inLight('knowledge'),
  'console/document': inLight('document'),
  'console/search': inLight('knowledge-search'),
  'console/playground': inLight('playground-source'),
  'console/playground-dark': inDark('playground-source'),
  'console/details': inLight('playground-details'),
  'console/conversations': inLight('conversations', LOW),
  'console/conversation': inLight('conversation'),
  'console/insights': inLight('insights', { width: 1200, height: 900 }),
  'console/users': inLight('users', LOW),
  'console/embed': inLight('embed'),
  'console/keys': inLight('keys', BESIDE),
  'console/webhook': inLight('webhook', LOW),
  'console/usage': inLight('usage'),
  'console/audit': inLight('audit', BESIDE),
  'console/system': inLight('system'),
  'console/phones': onPhones('phone', 'overview', 'playground', 'insights'),
  'console/arabic': [{ name: 'setup', look: 'arabic', size: BESIDE }],
  'widget/open': inLight('widget-open', SHOP),
  'widget/open-dark': inDark('widget-open', SHOP),
  'widget/reply': inLight('widget-reply', SHOP),
  'widget/reply-dark': inDark('widget-reply', SHOP),
  'widget/phones': [
    ...onPhones('phone', 'widget-closed', 'widget-open', 'widget-table'),
    ...onPhones('phone-dark', 'widget-table'),
  ],
}
