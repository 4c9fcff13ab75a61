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

export interface Documentation {
  groups: Group[]
  decisions: Page[]
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

/** Reads all pages. A guide that is not in `ORDER` comes last. */
export function readDocumentation(): Documentation {
  const groups = ORDER.map(([title, names]) => ({
    title,
    pages: names.map((name) => readPage(OUTSIDE_DOCS[name] ?? `docs/${name}.md`, name)),
  }))
  const listed = new Set(groups.flatMap(({ pages }) => pages.map(({ file }) => file)))
  const files = globSync('docs/**/*.md', { cwd: ROOT }).map((file) => file.replaceAll('\\', '/'))
  const { decisions = [], others } = Object.groupBy(files.filter((file) => !listed.has(file)).sort(), (file) =>
    file.startsWith('docs/decisions/') ? 'decisions' : 'others',
  )
  if (others !== undefined) groups.push({ title: 'More', pages: others.map((file) => readPage(file)) })
  return { groups, decisions: decisions.map((file) => readPage(file)) }
}

function readPage(file: string, path = file.replace(/^docs\/|\.md$/g, '')): Page {
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
