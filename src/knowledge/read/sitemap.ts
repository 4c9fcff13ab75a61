import { gunzipSync } from 'node:zlib'
import { Parser } from 'htmlparser2'
import { DocumentError } from '../../core/document-error.ts'

/** What a sitemap names (sitemaps.org, protocol 0.9): pages, or further sitemaps. */
export interface Sitemap {
  pages: string[]
  sitemaps: string[]
}

/** The protocol's own bound on one file. */
const MOST_ENTRIES = 50_000
const MAX_BYTES = 52_428_800
const GZIP = [0x1f, 0x8b]
/** The protocol needs three. The parser takes the square of the depth. */
const MOST_LEVELS = 100

/** Sitemaps are often kept packed. Throws `DocumentError`. */
export function unpacked(body: Uint8Array): Uint8Array {
  if (body[0] !== GZIP[0] || body[1] !== GZIP[1]) return body
  try {
    return new Uint8Array(gunzipSync(body, { maxOutputLength: MAX_BYTES }))
  } catch (cause) {
    throw new DocumentError('damaged', 'The sitemap is packed and cannot be unpacked.', { cause })
  }
}

/** Reads a sitemap or an index of sitemaps in XML, or a list of addresses, one a line. Throws `DocumentError`. */
export function readSitemap(text: string): Sitemap {
  const found: Sitemap = { pages: [], sitemaps: [] }
  if (!text.trimStart().startsWith('<')) {
    found.pages = text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => /^https?:\/\//i.test(line))
      .slice(0, MOST_ENTRIES)
    return found
  }
  let within: 'pages' | 'sitemaps' | undefined
  let address: string | undefined
  let level = 0
  const parser = new Parser(
    {
      onopentag(name) {
        if (++level > MOST_LEVELS) throw new DocumentError('damaged', 'The sitemap holds elements in elements without end.')
        const local = name.split(':').at(-1)
        if (local === 'url') within = 'pages'
        else if (local === 'sitemap') within = 'sitemaps'
        else if (local === 'loc' && !name.includes(':') && within !== undefined) address = ''
      },
      ontext(text) {
        if (address !== undefined && address.length < 4_096) address += text
      },
      onclosetag(name) {
        level--
        if (name !== 'loc' || address === undefined || within === undefined) return
        if (found[within].length < MOST_ENTRIES) found[within].push(address.trim())
        address = undefined
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  parser.write(text)
  parser.end()
  return found
}
