import type { Block } from './block.ts'

const BLOCKS = new Set(
  (
    'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol p pre section summary table tbody td tfoot th thead tr ul'
  ).split(' '),
)
const LISTS = new Set(['ul', 'ol', 'dl'])
// Deeper items are not moved further in: the indents of 100,000 nested lists would be gigabytes.
const MAX_INDENT = 6
// A `main` with less text than this, and less than half of the page's, is a wrapper gone wrong.
const MAIN_CHARS = 200

interface Placed extends Block {
  main: boolean
  around: boolean
}

/** Puts the events of an HTML page together to blocks of light Markdown: `#` headings, `-` lists, ` | ` between cells, fenced code. */
export class HtmlBlocks {
  readonly #blocks: Placed[] = []
  #kind: Block['kind'] = 'prose'
  #level = 0
  #lines: string[] = []
  /** The line being written, in pieces; white space still as in the source. */
  #line: string[] = []
  #isLineBlank = true
  #prefix = ''
  #pre: string[] | undefined
  #table = 0
  /** Of each open list: the number of its next item; 0 where items have none. */
  #lists: number[] = []
  #main = false
  #around = false

  /** Where in the page what follows stands. */
  place(main: boolean, around: boolean): void {
    if (main === this.#main && around === this.#around) return
    this.#endBlock()
    this.#main = main
    this.#around = around
  }

  text(text: string): void {
    if (this.#pre !== undefined) this.#pre.push(text)
    else this.#add(text)
  }

  open(name: string): void {
    if (this.#pre !== undefined) {
      if (name === 'br') this.#pre.push('\n')
    } else if (name === 'br') this.#break()
    else if (name === 'code') this.#add('`')
    else if (!BLOCKS.has(name)) return
    else if (name === 'table') this.#openTable()
    else if (this.#table > 0) this.#openInTable(name)
    else if (name === 'pre') this.#pre = []
    else if (LISTS.has(name)) this.#openList(name)
    else if (this.#lists.length > 0) this.#openInList(name)
    else this.#openBlock(name)
  }

  close(name: string): void {
    if (this.#pre !== undefined) {
      if (name === 'pre') this.#endCode()
    } else if (name === 'code') this.#add('`')
    else if (!BLOCKS.has(name)) return
    else if (this.#table > 0) this.#closeInTable(name)
    else if (this.#lists.length === 0) this.#endBlock()
    else {
      this.#endLine()
      if (LISTS.has(name)) {
        this.#lists.pop()
        this.#endNest()
      }
    }
  }

  /** All that was read. Of a page that marks its main content, that; else all that does not stand around it. */
  finish(): Block[] {
    if (this.#pre !== undefined) this.#endCode()
    this.#endBlock()
    const size = (blocks: Placed[]): number => blocks.reduce((sum, block) => sum + block.text.length, 0)
    const within = this.#blocks.filter((block) => !block.around)
    const main = within.filter((block) => block.main)
    const chosen =
      size(main) >= Math.min(MAIN_CHARS, size(within) / 2) && main.length > 0 ? main : within.length > 0 ? within : this.#blocks
    return chosen.map(({ kind, text, level }) => ({ kind, text, level }))
  }

  #break(): void {
    if (this.#table > 0 || this.#kind === 'heading') this.#line.push(' ')
    else this.#endLine()
  }

  #openBlock(name: string): void {
    this.#endBlock()
    const level = /^h([1-6])$/.exec(name)?.[1]
    if (level === undefined) return
    this.#kind = 'heading'
    this.#level = Number(level)
  }

  #closeInTable(name: string): void {
    if (name === 'table' && --this.#table === 0) this.#endNest()
    else if (name === 'tr') this.#endLine()
    else this.#line.push(' ')
  }

  #openTable(): void {
    if (this.#table === 0 && this.#lists.length === 0) {
      this.#endBlock()
      this.#kind = 'table'
    }
    this.#endLine()
    this.#table++
  }

  #add(text: string): void {
    this.#line.push(text)
    if (this.#isLineBlank) this.#isLineBlank = text.trim() === ''
  }

  #openInTable(name: string): void {
    if (name === 'tr') this.#endLine()
    else if ((name === 'td' || name === 'th') && !this.#isLineBlank) this.#line.push(' | ')
    else this.#line.push(' ')
  }

  #openList(name: string): void {
    if (this.#lists.length === 0) {
      this.#endBlock()
      this.#kind = 'list'
    }
    this.#endLine()
    this.#lists.push(name === 'ol' ? 1 : 0)
  }

  #openInList(name: string): void {
    this.#endLine()
    const depth = this.#lists.length - 1
    const indent = '  '.repeat(Math.min(depth, MAX_INDENT))
    if (name === 'li') {
      const number = this.#lists[depth]!
      if (number > 0) this.#lists[depth] = number + 1
      this.#prefix = `${indent}${number > 0 ? `${number}.` : '-'} `
    } else if (name === 'dt') this.#prefix = `${indent}- `
    else if (name === 'dd') this.#prefix = `${indent}  `
  }

  /** The outermost list or table has ended. */
  #endNest(): void {
    if (this.#table === 0 && this.#lists.length === 0) this.#endBlock()
  }

  #endCode(): void {
    const code = this.#pre!.join('').replace(/^\n/, '').trimEnd()
    this.#pre = undefined
    if (code.trim() === '') return
    const fence = code.includes('```') ? '~~~~' : '```'
    if (this.#lists.length > 0) {
      this.#endLine()
      this.#lines.push(fence, code, fence)
      return
    }
    this.#endBlock()
    this.#kind = 'code'
    this.#lines.push(fence, code, fence)
    this.#endBlock()
  }

  #endLine(): void {
    const line = this.#line.join('').replace(/\s+/gu, ' ').trim()
    this.#line = []
    this.#isLineBlank = true
    if (line === '' || /^[|\s]+$/.test(line) || line === '``') return
    this.#lines.push(this.#prefix + line)
    this.#prefix = this.#prefix.replace(/\S/g, ' ')
  }

  #endBlock(): void {
    this.#endLine()
    if (this.#lines.length > 0) {
      const text = this.#lines.join('\n')
      const heading = this.#kind === 'heading'
      this.#blocks.push({
        kind: this.#kind,
        text: heading ? `${'#'.repeat(this.#level)} ${this.#lines.join(' ')}` : text,
        level: heading ? this.#level : 0,
        main: this.#main,
        around: this.#around,
      })
    }
    this.#lines = []
    this.#prefix = ''
    this.#level = 0
    this.#kind = this.#lists.length > 0 ? 'list' : this.#table > 0 ? 'table' : 'prose'
  }
}
