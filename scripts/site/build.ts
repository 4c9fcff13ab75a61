// Builds the pages below `/docs`, `/llms.txt` and the other documentation files.
import { createHash } from 'node:crypto'
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { type Assets, type PageContent, toHtml, toRootOf } from './layout.ts'
import { llmsFull, llmsIndex } from './llms.ts'
import { escapeHtml, markdownOfSite, type Place, renderPage } from './markdown.ts'
import { type Documentation, firstSentence, type Page, ROOT, readDocumentation } from './pages.ts'
import { type OpenApi, referenceHtml } from './reference.ts'
import { entriesOf } from './search-index.ts'

/** Builds the site into its own folder, which is emptied first. */
export function buildSite(out: string): void {
  rmSync(out, { recursive: true, force: true })
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(out, path)), { recursive: true })
    writeFileSync(join(out, path), text)
  }
  const documentation = readDocumentation()
  const { groups, decisions } = documentation
  const pages = [...groups.flatMap((group) => group.pages), ...decisions]
  const pathOf = new Map(pages.map(({ file, path }) => [file, path]))
  const rendered = pages.map((page) => {
    const place: Place = { file: page.file, toRoot: toRootOf(page.path), pathOf }
    return { page, place, ...renderPage(page.markdown, place) }
  })
  const index = rendered.flatMap(({ page, headings }) => entriesOf(page, headings))
  const assets = writeAssets(write, JSON.stringify(index))
  const writePage = (page: PageContent) => write(join(page.path, 'index.html'), toHtml(page, groups, assets))

  for (const [i, { page, place, html, headings }] of rendered.entries()) {
    const source = `../${basename(page.path)}.md`
    writePage({ ...page, html, headings, source, before: pages[i - 1], after: pages[i + 1] })
    write(`${page.path}.md`, markdownOfSite(page.markdown, place))
  }
  const openApi = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')) as OpenApi
  writePage({
    ...referenceHtml(openApi),
    path: 'api',
    title: 'API reference',
    about: 'Every request that Repartee accepts.',
    isReference: true,
  })
  writePage(listOfDecisions(documentation))
  writePage(firstPage(documentation))
  write('llms.txt', llmsIndex(documentation))
  write('llms-full.txt', llmsFull(documentation))
  copyFileSync(join(import.meta.dirname, 'icon.svg'), join(out, 'icon.svg'))
  cpSync(join(ROOT, 'docs/images'), join(out, 'images'), { recursive: true })
}

/** In cascade order. */
const STYLES = ['base', 'side', 'text', 'contents', 'reference', 'windows']

/** Writes assets under names with a content hash, so that browsers can cache them forever. */
function writeAssets(write: (path: string, text: string) => void, index: string): Assets {
  const put = (name: string, text: string) => {
    const hash = createHash('sha256').update(text).digest('base64url').slice(0, 10)
    const hashed = name.replace(/(\.\w+)$/, `-${hash}$1`)
    write(`assets/${hashed}`, text)
    return hashed
  }
  const source = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8')
  const script = (name: string) => toJavaScript(source(`browser/${name}.ts`))
  const found = put('search.json', index)
  return {
    style: put('site.css', STYLES.map((name) => source(`styles/${name}.css`)).join('\n')),
    theme: put('theme.js', script('theme')),
    site: put('site.js', script('site').replace('SEARCH_INDEX', found)),
    reference: put('reference.js', script('reference')),
  }
}

function toJavaScript(source: string): string {
  // Hides Node's experimental warning, which does not concern operators.
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source).replace(/[ \t]+$/gm, '')
  } finally {
    process.emitWarning = emitWarning
  }
}

function firstPage({ groups }: Documentation): PageContent {
  const about =
    'Repartee is a headless chat service: applications talk to AI agents over HTTP and JSON, and every reply is grounded in documents of your own.'
  const cards = groups.map(({ title, pages }) => {
    const items = pages.map((page) => card(page, page.path))
    if (title === 'Reference')
      items.unshift(
        '<li><a href="api/">API reference</a><p>Every request with its fields. Try each of them on this service.</p></li>',
      )
    return `<h2 id="${title.toLowerCase()}">${title}</h2>\n<ul class="cards">${items.join('\n')}</ul>`
  })
  const html = `<h1 id="repartee">Repartee</h1>
<p class="lead">${about}</p>
<p class="ways"><a class="button" href="quick-start/">Quick start</a> <a class="button" href="api/">API reference</a> <a class="button" href="../console/">Console of this service</a></p>
${cards.join('\n')}
<p class="source">For language models: <a href="../llms.txt">llms.txt</a>, <a href="../llms-full.txt">llms-full.txt</a>. Each page is also available as Markdown.</p>`
  return { path: '', title: 'Repartee: documentation', about, html, headings: [] }
}

function listOfDecisions({ decisions }: Documentation): PageContent {
  const items = decisions.map((page) => card(page, page.path.replace('decisions/', '')))
  const about = 'Why Repartee is built as it is: one page for each decision that others will ask about.'
  const html = `<h1 id="decisions">Decisions</h1>\n<p>${about}</p>\n<ul class="cards">${items.join('\n')}</ul>`
  return { path: 'decisions', title: 'Decisions', about, html, headings: [] }
}

const card = ({ title, about }: Page, to: string): string =>
  `<li><a href="${to}/">${escapeHtml(title)}</a><p>${escapeHtml(firstSentence(about))}</p></li>`
