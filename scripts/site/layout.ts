import { escapeHtml, type Heading } from './markdown.ts'
import type { Group, Page } from './pages.ts'

/** File names of the assets, each with a content hash. */
export interface Assets {
  style: string
  /** Runs before the page is shown. */
  theme: string
  site: string
  reference: string
}

export interface PageContent {
  /** Path below `/docs/`. Empty for the start page. */
  path: string
  title: string
  about: string
  /** The article. */
  html: string
  headings: Heading[]
  /** Link from this page to its Markdown version. */
  source?: string
  before?: Page | undefined
  after?: Page | undefined
  isReference?: boolean
}

/** Returns the relative path from a page to `/docs/`. */
export const toRootOf = (path: string): string => '../'.repeat(path === '' ? 0 : path.split('/').length)

/** Returns a complete page. Styles and scripts are separate files. */
export function toHtml(page: PageContent, groups: Group[], assets: Assets): string {
  const { path, title, about, html, headings, source, isReference = false } = page
  const root = toRootOf(path)
  const asset = (name: string) => `${root}assets/${name}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(path === '' ? title : `${title} · Repartee`)}</title>
<meta name="description" content="${escapeHtml(about)}">
<link rel="icon" href="${root}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${asset(assets.style)}">
${source === undefined ? '' : `<link rel="alternate" type="text/markdown" href="${source}">\n`}<script src="${asset(assets.theme)}"></script>
<script type="module" src="${asset(assets.site)}"></script>
${isReference ? `<script type="module" src="${asset(assets.reference)}"></script>\n` : ''}</head>
<body data-root="${root || './'}">
<a class="skip" href="#content">Skip to the text</a>
<header class="side">
<div class="brand">
<a href="${root || './'}"><img src="${root}icon.svg" alt="" width="24" height="24">Repartee</a>
<button type="button" id="theme" class="needs-js" aria-label="Switch between light and dark">◐</button>
<button type="button" id="menu" class="needs-js" aria-expanded="false" aria-controls="pages">Pages</button>
</div>
<div id="pages">
<div role="search" class="search needs-js"><input type="search" id="site-search" placeholder="Search (press /)" aria-label="Search the documentation" autocomplete="off"></div>
<p id="found" role="status" class="hidden-text"></p>
<ul id="results" hidden></ul>
<nav aria-label="Pages">
${navigation(groups, path, root)}
</nav>
</div>
</header>
<main id="content" tabindex="-1">
<article${isReference ? ' class="reference"' : ''}>
${html}
${foot(page, root)}
</article>
${contents(headings, isReference)}
</main>
</body>
</html>
`
}

function navigation(groups: Group[], path: string, root: string): string {
  const link = (to: string, text: string) =>
    `<li><a href="${root}${to}"${to === `${path}/` ? ' aria-current="page"' : ''}>${escapeHtml(text)}</a></li>`
  return groups
    .map(({ title, pages }) => {
      const links = pages.map((page) => link(`${page.path}/`, page.title))
      if (title === 'Reference') {
        links.unshift(link('api/', 'API reference'))
        links.push(link('decisions/', 'Decisions'))
      }
      return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${links.join('\n')}\n</ul>`
    })
    .join('\n')
}

function contents(headings: Heading[], isReference: boolean): string {
  const shown = headings.filter(({ level }) => level === 2 || (isReference && level === 3))
  if (shown.length < 2) return ''
  const items = shown.map(({ id, text, level }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`)
  return `<nav class="contents" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${items.join('\n')}\n</ul>\n</nav>`
}

function foot({ before, after, source }: PageContent, root: string): string {
  const to = (page: Page | undefined, rel: string, words: string) =>
    page === undefined ? '' : `<a rel="${rel}" href="${root}${page.path}/"><span>${words}</span> ${escapeHtml(page.title)}</a>`
  const markdown = source === undefined ? '' : `<p class="source"><a href="${source}">This page as Markdown</a></p>`
  const around =
    before === undefined && after === undefined
      ? ''
      : `<nav class="around" aria-label="Previous and next page">${to(before, 'prev', 'Previous:')}${to(after, 'next', 'Next:')}</nav>`
  return around + markdown
}
