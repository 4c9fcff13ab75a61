import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Page {
  /** Path from the project root, e.g. `docs/quick-start.md`. */
  file: string
  /** Path below `/docs/`, e.g. `quick-start`. */
  path: string
  title: string
  /** Summary: the page's first paragraph, as plain text. */
  about: string
  markdown: string
}

export interface Group {
  title: string
  pages: Page[]
}

/** The guides in reading order. */
const ORDER: [title: string, names: string[]][] = [
  ['Start', ['introduction', 'quick-start', 'console', 'documents', 'web-pages', 'embed', 'cli', 'migrate', 'faq']],
  [
    'Chat',
    ['sessions-and-messages', 'turns', 'agents', 'answers', 'keys', 'client', 'widget', 'standard-clients', 'webhooks', 'mcp'],
  ],
  [
    'Models',
    ['models', 'providers/openai', 'providers/anthropic', 'providers/google', 'providers/ollama', 'providers/compatible'],
  ],
  ['Improve', ['tune-retrieval', 'evaluate', 'insights', 'cost', 'performance']],
  ['Run', ['production', 'deploy', 'scale', 'security', 'operations', 'monitoring', 'configuration']],
  ['Reference', ['errors', 'glossary', 'architecture', 'security-policy', 'changelog']],
]
/** Pages outside the folder `docs`. */
const OUTSIDE_DOCS: Record<string, string> = { changelog: 'CHANGELOG.md', 'security-policy': 'SECURITY.md' }
const DECISIONS = 'Decisions'

export function readGroups(): Group[] {
  const there = new Set(globSync('docs/**/*.md', { cwd: ROOT }).map((file) => file.replaceAll('\\', '/')))
  const fileOf = (name: string) => OUTSIDE_DOCS[name] ?? `docs/${name}.md`
  const groups = ORDER.map(([title, names]) => ({
    title,
    pages: names.filter((name) => there.delete(fileOf(name)) || name in OUTSIDE_DOCS).map((name) => readPage(fileOf(name), name)),
  }))
  const decisions = [...there].filter((file) => file.startsWith('docs/decisions/')).sort()
  for (const file of decisions) there.delete(file)
  groups.push({ title: DECISIONS, pages: decisions.map((file) => readPage(file)) })
  // New pages without a group.
  if (there.size > 0) groups.splice(-1, 0, { title: 'More', pages: [...there].sort().map((file) => readPage(file)) })
  return groups
}

export function readPage(file: string, path = file.replace(/^docs\/|\.md$/g, '')): Page {
  // Comments are for authors only.
  const markdown = readFileSync(join(ROOT, file), 'utf8').replace(/^<!--[\s\S]*?-->\n+/gm, '')
  const title = plain(/^# (.+)$/m.exec(markdown)?.[1] ?? path)
  const first = /^# .+\n+((?:[^\n#|`>-].*\n)+)/m.exec(markdown)?.[1] ?? ''
  return { file, path, title, about: plain(first.replaceAll('\n', ' ')).trim(), markdown }
}

export const firstSentence = (text: string): string => /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text

/** Removes Markdown formatting. */
export const plain = (text: string): string =>
  text.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[*`]|(?<!\w)_|_(?!\w)/g, '')
