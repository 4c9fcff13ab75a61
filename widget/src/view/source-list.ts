import type { CitedSource } from 'repartee-client'
import { filled, type Labels } from '../labels/labels.ts'
import { h, icon } from './dom.ts'
import type { ToMark } from './safe-html.ts'

/** Renders the sources of a reply as cards, and the citation marks that open them. */
export function sourceList(sources: CitedSource[], labels: Labels): { element: HTMLElement; toMark: ToMark } {
  const cards = new Map(sources.map((source) => [source.index, card(source, labels)]))
  const items = [...cards.values()].map(({ item }) => item)
  const element = h('section', { class: 'sources', 'aria-label': labels.sources }, h('ul', {}, ...items))
  const toMark = (n: number) => {
    const found = cards.get(n)
    if (found === undefined) return undefined
    const label = filled(labels.source, { n, title: found.title })
    return h('button', { type: 'button', class: 'mark', 'aria-label': label, title: found.title, click: found.show }, String(n))
  }
  return { element, toMark }
}

function card({ index, title, page, snippet, url }: CitedSource, labels: Labels) {
  const where = page === undefined ? '' : filled(labels.page, { n: page })
  const summary = h(
    'summary',
    {},
    h('span', { class: 'number' }, String(index)),
    h('span', { class: 'title', dir: 'auto' }, title),
    where !== '' && h('span', { class: 'where' }, where),
    h('span', { class: 'snippet', dir: 'auto' }, snippet),
  )
  const details = h('details', {}, summary)
  const show = () => {
    details.open = true
    details.scrollIntoView({ block: 'nearest' })
    summary.focus()
  }
  return { title, show, item: h('li', {}, details, linkTo(url, title, labels)) }
}

function linkTo(url: string | null, title: string, { openSource }: Labels): HTMLElement | undefined {
  if (url === null || !/^https?:/i.test(url)) return undefined
  const label = `${openSource}: ${title}`
  return h(
    'a',
    { class: 'icon', href: url, target: '_blank', rel: 'noopener noreferrer', 'aria-label': label, title: label },
    icon('out'),
  )
}
