import { gunzipSync } from 'node:zlib'
import { Parser } from 'htmlparser2'
import { DocumentError } from '../../core/document-error.ts'
import { MAX_LINK_CHARS } from '../../core/site.ts'

/** The pages and further sitemaps in a sitemap (sitemaps.org, protocol 0.9). URLs are unique; long ones are left out. */
export interface Sitemap {
  pages: string[]
  sitemaps: string[]
  /** False for another kind of page, such as a maintenance page, and for a truncated sitemap. */
  isComplete: boolean
}

type Kind = 'pages' | 'sitemaps'
type Found = Record<Kind, Addresses>

/** The protocol's limit for one file. */
const MOST_ENTRIES = 50_000
/** Limit for all URLs. */
const MOST_CHARS = 5_000_000
const MAX_BYTES = 52_428_800
const GZIP = [0x1f, 0x8b]
/** The protocol needs three. The time of the parser is quadratic in the depth. */
const MOST_LEVELS = 100

/** Decompresses a sitemap if it is gzipped, which is common. Throws `DocumentError`. */
export function unpacked(body: Uint8Array): Uint8Array {
  if (body[0] !== GZIP[0] || body[1] !== GZIP[1]) return body
  try {
    return new Uint8Array(gunzipSync(body, { maxOutputLength: MAX_BYTES }))
  } catch (cause) {
    throw new DocumentError('damaged', 'The sitemap is packed and cannot be unpacked.', { cause })
  }
}

/** URLs of one kind, in order. */
class Addresses {
  readonly #found = new Set<string>()
  #chars = 0

  add(address: string): void {
    const { length } = address
    if (length > MAX_LINK_CHARS || this.#chars + length > MOST_CHARS || this.#found.size >= MOST_ENTRIES) return
    if (!this.#found.has(address)) this.#chars += length
    this.#found.add(address)
  }

  list(): string[] {
    return [...this.#found]
  }
}

/** Reads an XML sitemap or sitemap index, or a list with one URL per line. Throws `DocumentError`. */
export function readSitemap(text: string): Sitemap {
  const found = { pages: new Addresses(), sitemaps: new Addresses() }
  const isComplete = text.trimStart().startsWith('<') ? readXml(text, found) : readLines(text, found)
  return { pages: found.pages.list(), sitemaps: found.sitemaps.list(), isComplete }
}

/** Returns true if every line is a URL. */
function readLines(text: string, found: Found): boolean {
  let isComplete = true
  for (const line of text.split('\n')) {
    const address = line.trim()
    if (/^https?:\/\//i.test(address)) found.pages.add(address)
    else isComplete &&= address === ''
  }
  return isComplete
}

/** Returns true if the text is a complete sitemap. */
function readXml(text: string, found: Found): boolean {
  let within: Kind | undefined
  let isSitemap = false
  let isEnded = false
  let address: string | undefined
  let level = 0
  const parser = new Parser(
    {
      onopentag(name) {
        if (++level > MOST_LEVELS) throw new DocumentError('damaged', 'The sitemap holds elements in elements without end.')
        const local = name.split(':').at(-1)
        if (level === 1) isSitemap = local === 'urlset' || local === 'sitemapindex'
        if (local === 'url') within = 'pages'
        else if (local === 'sitemap') within = 'sitemaps'
        else if (local === 'loc' && !name.includes(':') && within !== undefined) address = ''
      },
      ontext(text) {
        if (address !== undefined && address.length <= MAX_LINK_CHARS) address += text
      },
      // `isImplied`: the text ends before the tag.
      onclosetag(name, isImplied) {
        if (--level === 0) isEnded = !isImplied
        if (name !== 'loc' || address === undefined || within === undefined) return
        found[within].add(address.trim())
        address = undefined
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  parser.write(text)
  parser.end()
  return isSitemap && isEnded
}
