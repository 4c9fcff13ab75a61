import { h } from './dom.ts'

interface Policy {
  createHTML(html: string): string
}

let policy: Policy | undefined

/** Satisfies pages that require Trusted Types. The policy returns the text unchanged, because parsed HTML is inert and copied element by element. */
function toTrusted(html: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } }
  policy ??= trustedTypes?.createPolicy('repartee', { createHTML: (text) => text })
  return policy?.createHTML(html) ?? html
}

/** The allowed elements and their attributes. */
const ALLOWED: Record<string, string[]> = {
  ...Object.fromEntries(
    'p br hr h1 h2 h3 h4 h5 h6 blockquote pre strong em del ul li table thead tbody tr'.split(' ').map((tag) => [tag, []]),
  ),
  a: ['href', 'title'],
  img: ['src', 'alt', 'title'],
  code: ['class'],
  ol: ['start'],
  th: ['style'],
  td: ['style'],
  input: ['checked'],
}
/** These are removed with their content. Other elements that are not allowed are replaced by their content. */
const DROPPED = /^(script|style|template|iframe|object|embed|svg|math|noscript|textarea|select|title|head)$/
const LINK = /^(https?|mailto):/i
const IMAGE = /^https?:/i
const MARK = /\[(\d{1,3})\]/

/** Returns the element for a citation mark `[n]`. */
export type ToMark = (n: number) => Node | undefined

/**
 * Returns a reply as DOM nodes. The service sanitizes HTML; the allowlist here is a second defense. Markdown and replies without
 * elements, such as imported ones, are shown as plain text. Images load only if the format is known: nobody checked those in Markdown.
 */
export function safeHtml(content: string, format: 'html' | 'markdown' | undefined, toMark?: ToMark): Node {
  if (format === 'markdown' || !content.trimStart().startsWith('<')) return h('p', { class: 'plain' }, content)
  const fragment = document.createDocumentFragment()
  try {
    copy(parse(content), fragment, { toMark, loads: format === 'html' })
  } catch {
    // The page's policy forbids creating the Trusted Types policy.
    return h('p', { class: 'plain' }, content.replace(/<[^<>]*>/g, ''))
  }
  return fragment
}

interface Copying {
  toMark: ToMark | undefined
  /** Whether images are loaded. */
  loads: boolean
}

function parse(html: string): Node {
  // An attribute instead of a style: pages that forbid inline styles would report a violation.
  const text = html.replace(/ style="text-align: ?(left|right|center);?"/g, ' align="$1"')
  return new DOMParser().parseFromString(toTrusted(text), 'text/html').body
}

function copy(from: Node, to: Node, how: Copying): void {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) copyText((node as Text).data, to, how.toMark)
    if (node.nodeType !== Node.ELEMENT_NODE) continue
    const tag = (node as Element).localName
    if (DROPPED.test(tag) || (tag === 'img' && !how.loads)) continue
    const names = ALLOWED[tag]
    if (names === undefined) copy(node, to, how)
    else copyElement(node as Element, tag, names, to, how)
  }
}

function copyElement(from: Element, tag: string, names: string[], to: Node, how: Copying): void {
  const element = document.createElement(tag)
  for (const name of names) {
    const value = from.getAttribute(name)
    if (value !== null && isAllowed(tag, name, value)) element.setAttribute(name, value)
  }
  if (tag === 'a') {
    element.setAttribute('target', '_blank')
    element.setAttribute('rel', 'noopener noreferrer nofollow')
  }
  if (tag === 'input')
    for (const [name, value] of [
      ['type', 'checkbox'],
      ['disabled', ''],
    ])
      element.setAttribute(name!, value!)
  // Wide code scrolls, also by keyboard.
  if (tag === 'pre') element.setAttribute('tabindex', '0')
  const align = /^(left|right|center)$/.exec(from.getAttribute('align') ?? '')?.[0]
  if (align !== undefined) element.style.textAlign = align
  copy(from, element, /^(a|code|pre)$/.test(tag) ? { ...how, toMark: undefined } : how)
  to.appendChild(tag === 'table' ? h('div', { class: 'wide', tabindex: '0' }, element) : element)
}

function isAllowed(tag: string, name: string, value: string): boolean {
  if (name === 'href') return LINK.test(value)
  if (name === 'src') return IMAGE.test(value)
  if (tag === 'code') return /^language-[\w+#.-]{1,40}$/.test(value)
  return name !== 'style'
}

function copyText(text: string, to: Node, toMark: ToMark | undefined): void {
  if (toMark === undefined) return void to.appendChild(document.createTextNode(text))
  for (const [i, part] of text.split(MARK).entries()) {
    // Every second part is the number of a citation mark.
    const mark = i % 2 === 1 ? (toMark(Number(part)) ?? document.createTextNode(`[${part}]`)) : undefined
    to.appendChild(mark ?? document.createTextNode(part))
  }
}

/** Returns partial Markdown without the marks that would flicker. */
export const plainText = (markdown: string): string =>
  markdown
    .replace(/^#{1,6} /gm, '')
    .replace(/^([ \t]*)[*-] /gm, '$1• ')
    .replace(/\*\*/g, '')
