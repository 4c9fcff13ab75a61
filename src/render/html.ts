import markdownIt from 'markdown-it'
import sanitizeHtml from 'sanitize-html'
import { bareAddresses } from './bare-addresses.ts'
import { bounded, mostChars } from './bounded.ts'
import { singleTildes } from './single-tilde.ts'
import { taskLists } from './task-list.ts'

// Two independent barriers: the renderer passes no raw HTML, and the sanitizer allows only its own list.
const markdown = markdownIt({ html: false, linkify: true }).use(taskLists).use(bareAddresses).use(singleTildes)
// GFM's element for strikethrough.
markdown.renderer.rules.s_open = () => '<del>'
markdown.renderer.rules.s_close = () => '</del>'

const render = bounded(markdown)

/** The list is searched for each element and text, so the most frequent elements come first. */
const TAGS = [
  ...['li', 'p', 'td', 'code', 'strong', 'a', 'tr', 'em', 'th', 'ul', 'ol', 'h2', 'h3', 'pre', 'br', 'table', 'thead', 'tbody'],
  ...['blockquote', 'del', 'h1', 'h4', 'h5', 'h6', 'hr', 'img', 'input'],
]

/** The alignment of GFM tables is the only allowed style, compared as text: CSS is not parsed. */
const ALIGNED = { name: 'style', values: ['text-align:left', 'text-align:right', 'text-align:center'] }

/**
 * Renders Markdown (CommonMark, tables, strikethrough, autolinks, task lists) as HTML without scripts, style sheets, event handlers, frames,
 * forms or dangerous links. An image becomes a link unless its host is listed, because its address can leak data.
 * Markdown whose HTML exceeds five times its length plus 50,000 characters becomes preformatted text.
 */
export function renderHtml(source: string, imageHosts: string[]): string {
  const html = render(source)
  const safe = html === undefined ? undefined : sanitized(html, imageHosts)
  if (safe !== undefined && safe.length <= mostChars(source)) return safe
  return `<pre>${markdown.utils.escapeHtml(source)}</pre>`
}

function sanitized(html: string, imageHosts: string[]): string {
  return sanitizeHtml(html, {
    allowedTags: TAGS,
    allowedAttributes: {
      a: ['href', 'title', 'rel'],
      img: ['src', 'alt', 'title'],
      code: ['class'],
      ol: ['start'],
      th: [ALIGNED],
      td: [ALIGNED],
      input: ['type', 'checked', 'disabled'],
    },
    allowedClasses: { code: [/^language-[\w+#.-]{1,40}$/] },
    parseStyleAttributes: false,
    allowedSchemes: ['http', 'https', 'mailto'],
    allowProtocolRelative: false,
    transformTags: {
      a: (tagName, attribs) => ({ tagName, attribs: { ...attribs, rel: 'noopener nofollow' } }),
      img: (tagName, { src = '', alt = '', title }) => {
        const kept = title === undefined ? {} : { title }
        const listed = listedAddress(src, imageHosts)
        if (listed !== undefined) return { tagName, attribs: { src: listed, alt, ...kept } }
        return { tagName: 'a', attribs: { href: src, rel: 'noopener nofollow', ...kept }, text: alt || src }
      },
    },
  })
}

/** Returns the full address, or undefined if its host is not listed. A page would resolve `https:host/path` to its own host. */
function listedAddress(address: string, hosts: string[]): string | undefined {
  if (hosts.length === 0) return undefined
  const url = URL.parse(address)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined
  return hosts.some((host) => host.toLowerCase() === url.host) ? url.href : undefined
}
