import { Parser } from 'htmlparser2'
import { MAX_LINK_CHARS } from '../../core/site.ts'

/** The links of a page, and its directives to robots. */
export interface PageLinks {
  /** Absolute HTTP URLs without fragments, unique, in reading order. Long URLs are left out. */
  links: string[]
  noIndex: boolean
  noFollow: boolean
}

const MOST_LINKS = 5_000
/** Limit for all links of a page. */
const MOST_CHARS = 500_000
/** Deeper levels are not read, because the time of the parser is quadratic in the depth. */
const MOST_LEVELS = 1_000

/** Returns the links of an HTML page. Takes time linear in its length. */
export function readLinks(html: string, pageUrl: string): PageLinks {
  const links = new Set<string>()
  let chars = 0
  let base = pageUrl
  let noIndex = false
  let noFollow = false
  let level = 0
  const parser = new Parser({
    onopentag(name, { href, rel, name: meta, content }) {
      if (++level > MOST_LEVELS) parser.reset()
      if (name === 'base' && href !== undefined && href.length <= MAX_LINK_CHARS) base = URL.parse(href, pageUrl)?.href ?? base
      else if (name === 'meta' && meta?.toLowerCase() === 'robots') {
        noIndex ||= /\b(?:noindex|none)\b/i.test(content ?? '')
        noFollow ||= /\b(?:nofollow|none)\b/i.test(content ?? '')
      } else if ((name === 'a' || name === 'area') && href !== undefined && links.size < MOST_LINKS) {
        if (/\bnofollow\b/i.test(rel ?? '')) return
        const url = URL.parse(href.trim(), base)
        if (url === null || !/^https?:$/.test(url.protocol)) return
        url.hash = ''
        const { length } = url.href
        if (length > MAX_LINK_CHARS || chars + length > MOST_CHARS || links.has(url.href)) return
        chars += length
        links.add(url.href)
      }
    },
    onclosetag() {
      level--
    },
  })
  parser.write(html)
  parser.end()
  return { links: noFollow ? [] : [...links], noIndex, noFollow }
}
