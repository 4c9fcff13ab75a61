type Mark = '**' | '*' | 'link'

/** Deeper emphasis is not marked, because each level is copied once for each level around it. */
const MOST_MARKS = 6
const MOST_LINK_CHARS = 300
const WEB_LINK = /^(?:https?:\/\/|mailto:)[^\s<>()]+$/i
const ACTIVE = /[`*_<\\&\]]/
const WORD = /[\p{L}\p{N}]/u
const SPACE = /\s/
const WRAPPED =
  /(?<=[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}。、])[ \t]*\n\s*(?=[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}])/gu

interface Open {
  mark: Mark
  href: string
  /** Number of pieces before it. */
  at: number
}

interface Marked {
  before: string
  mark: '**' | '*'
  text: string
  after: string
}

/**
 * Writes a line of Markdown from texts and marks. Marks come in pairs around text, and only where Markdown recognizes them as marks.
 * Characters of the text that would be marks are escaped.
 */
export class InlineText {
  #pieces: (string | Marked)[] = []
  readonly #open: Open[] = []
  /** Consecutive texts that are not escaped yet. */
  #text: string[] = []
  #code: string[] | undefined
  #isBlank = true
  #linked = 0
  #chars = 0

  get isBlank(): boolean {
    return this.#isBlank
  }

  /** Returns the characters since the last call: in links to a section (`#`), and in total. */
  takeCounts(): { linked: number; chars: number } {
    const counts = { linked: this.#linked, chars: this.#chars }
    this.#linked = 0
    this.#chars = 0
    return counts
  }

  text(text: string): void {
    if (this.#code !== undefined) this.#code.push(text)
    else this.#text.push(text)
    const isBlank = text.trim() === ''
    if (isBlank) return
    this.#isBlank = false
    this.#chars += text.length
    if (this.#open.some(({ mark, href }) => mark === 'link' && href.includes('#'))) this.#linked += text.length
  }

  /** Joins and escapes the texts since the last mark. */
  #endText(): void {
    if (this.#text.length === 0) return
    const text = this.#text.join('')
    this.#text = []
    this.#pieces.push(ACTIVE.test(text) ? escaped(text) : text)
  }

  openCode(): void {
    this.#endText()
    this.#code ??= []
  }

  closeCode(): void {
    const code = this.#code?.join('').replace(/\s+/g, ' ').trim() ?? ''
    this.#code = undefined
    if (code === '') return
    const fence = code.includes('`') ? '``' : '`'
    const room = code.startsWith('`') || code.endsWith('`') ? ' ' : ''
    this.#pieces.push(`${fence}${room}${code}${room}${fence}`)
  }

  open(mark: Mark, href = ''): void {
    this.#endText()
    if (this.#code === undefined && this.#open.length < MOST_MARKS && !this.#open.some((other) => other.mark === mark))
      this.#open.push({ mark, href, at: this.#pieces.length })
  }

  close(mark: Mark): void {
    this.#endText()
    const found = this.#open.findLastIndex((open) => open.mark === mark)
    // Elements that are closed in the wrong order end with the element around them.
    while (found >= 0 && this.#open.length > found) this.#closeLast()
  }

  #closeLast(): void {
    const { mark, href, at } = this.#open.pop()!
    const text = this.#pieces.splice(at).map(flat).join('')
    const inner = text.trim()
    const before = text.slice(0, text.length - text.trimStart().length)
    const after = inner === '' ? '' : text.slice(text.trimEnd().length)
    if (inner === '' || (mark === 'link' && !isWorthALink(inner, href))) this.#pieces.push(text)
    else if (mark === 'link') this.#pieces.push(`${before}[${inner}](${href})${after}`)
    else this.#pieces.push({ before, mark, text: inner, after })
  }

  /** Returns the line with white space collapsed. Open marks continue in the next line, unless this line is the last one. */
  take(isLast: boolean): string {
    if (this.#code !== undefined) {
      this.closeCode()
      if (!isLast) this.#code = []
    }
    this.#endText()
    const open = this.#open.map(({ mark, href }) => ({ mark, href, at: 0 }))
    while (this.#open.length > 0) this.#closeLast()
    if (!isLast) this.#open.push(...open)
    const line = this.#isBlank ? '' : joined(this.#pieces)
    this.#pieces = []
    this.#isBlank = true
    return line.replace(WRAPPED, '').replace(/\s+/gu, ' ').trim()
  }
}

/** Returns false for a link whose text is its URL, and for a link within the site. Both are useless in a reply. */
const isWorthALink = (text: string, href: string): boolean =>
  href.length <= MOST_LINK_CHARS && WEB_LINK.test(href) && !text.includes('](') && bare(href) !== bare(text)

const bare = (address: string): string => address.replace(/^(?:https?:\/\/|mailto:)/i, '').replace(/\/$/, '')

const flat = (piece: string | Marked): string =>
  typeof piece === 'string' ? piece : `${piece.before}${piece.mark}${piece.text}${piece.mark}${piece.after}`

function joined(pieces: readonly (string | Marked)[]): string {
  let line = ''
  for (const [at, piece] of pieces.entries()) {
    if (typeof piece === 'string') line += piece
    else {
      const next = pieces[at + 1]
      const following = piece.after || (next === undefined ? '' : typeof next === 'string' ? next : next.before || next.mark)
      const isMark = opens(line + piece.before, piece.text) && closes(piece.text, following)
      line += isMark ? flat(piece) : `${piece.before}${piece.text}${piece.after}`
    }
  }
  return line
}

/** Return true if Markdown reads stars as the start or end of emphasis. If a letter is outside, a letter must be inside too. */
const opens = (before: string, text: string): boolean => WORD.test(text[0]!) || !WORD.test(before.slice(-1))
const closes = (text: string, after: string): boolean => WORD.test(text.at(-1)!) || !WORD.test(after.slice(0, 1))

function escaped(text: string): string {
  return text.replace(/[`*_]|<(?=[A-Za-z/!?])|&(?=#?\w{1,30};)|\\(?=[!-/:-@[-`{-~])|\](?=\()/g, (character, at: number) => {
    if (character === ']') return ']\\'
    if (character === '*' || character === '_') {
      const before = text[at - 1] ?? ' '
      const after = text[at + 1] ?? ' '
      if (SPACE.test(before) && SPACE.test(after)) return character
      if (character === '_' && WORD.test(before) && WORD.test(after)) return character
    }
    return `\\${character}`
  })
}
