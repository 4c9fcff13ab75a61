import { existsSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import markdownIt from 'markdown-it'
import { plain, ROOT } from './pages.ts'

export const { escapeHtml } = markdownIt().utils

export interface Heading {
  level: number
  text: string
  id: string
}

export interface Place {
  /** Path of the Markdown file from the project root. */
  file: string
  /** Relative path from this page to `/docs/`, e.g. `../`. */
  toRoot: string
  /** Path of each file below `/docs/`. */
  pathOf: ReadonlyMap<string, string>
}

/** Renders a page as HTML with heading anchors and links of the site. Throws at a link with an unknown target. */
export function renderPage(markdown: string, place: Place): { html: string; headings: Heading[] } {
  const headings: Heading[] = []
  const md = markdownIt({ html: false, linkify: false })
  const { rules } = md.renderer
  rules['heading_open'] = (tokens, i) => {
    const text = plain(tokens[i + 1]!.content)
    const id = idOf(text, headings)
    const level = Number(tokens[i]!.tag.slice(1))
    headings.push({ level, text, id })
    return `<${tokens[i]!.tag} id="${id}">`
  }
  rules['heading_close'] = (tokens, i) => {
    const { id, level, text } = headings.at(-1)!
    const anchor = level === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to: ${escapeHtml(text)}">#</a>`
    return `${anchor}</${tokens[i]!.tag}>\n`
  }
  // Wide tables scroll on their own, also by keyboard.
  rules['table_open'] = () => '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n'
  rules['table_close'] = () => '</table></div>\n'
  // Pages contain no inline styles, so alignment is a class. An empty header cell becomes a plain cell.
  const cell: (typeof rules)[string] = (tokens, i) => {
    const align = /text-align:(\w+)/.exec(String(tokens[i]!.attrGet('style')))?.[1]
    const tag = tokens[i + 1]!.content === '' ? 'td' : tokens[i]!.tag
    return `<${tag}${align === undefined ? '' : ` class="${align}"`}>`
  }
  rules['th_open'] = cell
  rules['td_open'] = cell
  rules['th_close'] = (tokens, i) => (tokens[i - 1]!.content === '' ? '</td>\n' : '</th>\n')
  rules.fence = (tokens, i) => {
    const { info, content } = tokens[i]!
    return `<pre class="code" tabindex="0" data-language="${escapeHtml(info.trim())}"><code>${escapeHtml(content)}</code></pre>\n`
  }
  rules['link_open'] = (tokens, i, options, _env, self) => {
    const token = tokens[i]!
    token.attrSet('href', toSite(String(token.attrGet('href')), place))
    return self.renderToken(tokens, i, options)
  }
  rules['image'] = (tokens, i) => {
    const { content, attrs } = tokens[i]!
    const src = String(Object.fromEntries(attrs ?? [])['src'])
    const folder = posix.dirname(place.pathOf.get(place.file)!)
    const img = (file: string, theme = '') =>
      `<img${theme} src="${escapeHtml(place.toRoot + posix.join(folder, file))}" alt="${escapeHtml(content)}" loading="lazy">`
    const dark = src.replace(/(?=\.\w+$)/, '-dark')
    return existsSync(join(ROOT, dirname(place.file), dark))
      ? img(src, ' class="in-light"') + img(dark, ' class="in-dark"')
      : img(src)
  }
  return { html: md.render(markdown), headings }
}

/** Returns an id in GitHub's format, so that links work both there and on the site. */
function idOf(text: string, before: readonly Heading[]): string {
  const id = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  const isTaken = (id: string) => before.some((heading) => heading.id === id)
  let free = id
  for (let n = 1; isTaken(free); n++) free = `${id}-${n}`
  return free
}

/** Links that are the same in the project and on the site. */
const UNCHANGED = /^(#|https?:|mailto:)/
/** Targets that are not Markdown files, with their path on the site. */
const RENAMED: Record<string, string> = { 'docs/openapi.json': 'api/', 'docs/decisions': 'decisions/' }

function toSite(href: string, { file, toRoot, pathOf }: Place): string {
  if (UNCHANGED.test(href)) return href
  const { target, anchor } = targetOf(href, file)
  const found = RENAMED[target] ?? (pathOf.has(target) ? `${pathOf.get(target)}/` : undefined)
  if (found === undefined) throw new Error(`${file} links to ${href}, which is not on the site`)
  return toRoot + found + anchor
}

function targetOf(href: string, file: string): { target: string; anchor: string } {
  const [path, anchor] = href.split('#', 2) as [string, string?]
  const target = join(dirname(file), path).replaceAll('\\', '/').replace(/\/$/, '')
  return { target, anchor: anchor === undefined ? '' : `#${anchor}` }
}

/** Returns the Markdown of a page with its links adapted to the site. */
export function markdownOfSite(markdown: string, { file, toRoot, pathOf }: Place): string {
  // One level less: `quick-start.md` is next to the folder `quick-start/`.
  const up = toRoot.slice('../'.length)
  return markdown.replace(/\]\(([^)\s]+)\)/g, (whole, href: string) => {
    if (UNCHANGED.test(href)) return whole
    const { target, anchor } = targetOf(href, file)
    if (target === 'docs/openapi.json') return `](${up}../openapi.json)`
    const path = pathOf.get(target)
    if (path !== undefined) return `](${up}${path}.md${anchor})`
    return RENAMED[target] === undefined ? whole : `](${up}${RENAMED[target]})`
  })
}
