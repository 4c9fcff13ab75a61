type Mark = '**' | '*' | 'link'

/** Deeper emphasis is not marked: each level is written once more for each one around it. */
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
  /** Pieces before it. */
  at: number
}

interface Marked {
  before: string
  mark: '**' | '*'
  text: string
  after: string
}

/**
 * Writes a line of Markdown from the texts and marks of one that is read. Marks come in pairs, around text, and only where Markdown knows them for marks.
 * Characters of the text that would be marks are escaped.
 */
export class InlineText {
  #pieces: (string | Marked)[] = []
  readonly #open: Open[] = []
  /** Text in a row, still as it is read. */
  #text: string[] = []
  #code: string[] | undefined
  #isBlank = true
  #linked = 0
  #chars = 0

  get isBlank(): boolean {
    return this.#isBlank
  }

  /** Characters since the last call: in links to a place on the page, and in all. */
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

  /** Nothing but marks goes between texts in a row. */
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
    // Elements that end in the wrong order end with the one around them.
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

  /** The line, with white space made single spaces. What is open goes on in the next line, unless it is the last one. */
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

/** An address that is its own text, and one on this site, lead nowhere from a reply. */
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

/** Where Markdown takes stars for the beginning, and for the end, of emphasis: beside a letter outside there is one inside. */
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
