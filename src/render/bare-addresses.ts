import type { MarkdownIt } from 'markdown-it'

/** Emphasis and strikethrough marks and sentence ends are not part of the address before them (GFM 6.9). */
const MARKS = '?!.,:*_~'
const ENTITY = /&[a-zA-Z0-9]{1,30};$/
const HOST = /^[\w-]+(?:\.[\w-]+)+(?=[/?#:\s<]|[^\w-]|$)/u
/** A text without one of these contains no address. */
const HINT = /@|\/\/|www\./i
const PATH = /^[/?#:][^\s<]{0,4000}/u

/** GFM's autolinks without brackets: `www.…`, and addresses that end before marks. */
export function bareAddresses({ linkify }: MarkdownIt): void {
  // A bare word with a dot is usually a file or a method, not a host.
  linkify.set({ fuzzyLink: false })
  linkify.add('www.', {
    validate: (text, at) => {
      const host = HOST.exec(text.slice(at))?.[0]
      if (host === undefined) return 0
      const path = PATH.exec(text.slice(at + host.length))?.[0] ?? ''
      const address = `${host}${path}`
      return endOf(address, surplus(address))
    },
    normalize: (match) => {
      match.url = `http://${match.url}`
    },
  })
  const test = linkify.test.bind(linkify)
  linkify.test = (text) => HINT.test(text) && test(text)
  for (const schema of ['http:', 'https:']) {
    linkify.add(schema, {
      validate: (text, at, self) => {
        const web = self.re.get_http_validator()
        web.lastIndex = at
        const found = web.exec(text)?.[0] ?? ''
        return endOf(found, 0)
      },
    })
  }
}

/** Counts closing brackets without an opening bracket in the address. */
function surplus(address: string): number {
  let open = 0
  for (const c of address) open += c === '(' ? 1 : c === ')' ? -1 : 0
  return Math.max(0, -open)
}

/** Returns the end of an address without trailing marks and without `brackets` closing brackets. Scans from the end, in linear time. */
function endOf(address: string, brackets: number): number {
  let left = brackets
  for (let end = address.length; end > 0; ) {
    const last = address[end - 1]!
    if (MARKS.includes(last)) end--
    else if (last === ')' && left > 0) {
      left--
      end--
    } else {
      const entity = last === ';' ? ENTITY.exec(address.slice(Math.max(0, end - 32), end)) : null
      if (entity === null) return end
      end -= entity[0].length
    }
  }
  return 0
}
