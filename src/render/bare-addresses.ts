import type { MarkdownIt } from 'markdown-it'

/** Marks of emphasis and of struck text, and a sentence's end: not part of the address before them (GFM 6.9). */
const MARKS = '?!.,:*_~'
const ENTITY = /&[a-zA-Z0-9]{1,30};$/
const HOST = /^[\w-]+(?:\.[\w-]+)+(?=[/?#:\s<]|[^\w-]|$)/u
/** Without one of these, there is no address. */
const HINT = /@|\/\/|www\./i
const PATH = /^[/?#:][^\s<]{0,4000}/u

/** GFM's links without brackets: `www.…`, and addresses that end before marks. */
export function bareAddresses({ linkify }: MarkdownIt): void {
  // A bare word with a dot is a file or a method far more often than a host.
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

/** Closing brackets that an address never opened. */
function surplus(address: string): number {
  let open = 0
  for (const c of address) open += c === '(' ? 1 : c === ')' ? -1 : 0
  return Math.max(0, -open)
}

/** Where an address ends that leaves marks, and so many closing brackets, to what surrounds it. From the end, so that it takes no longer than that is long. */
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
