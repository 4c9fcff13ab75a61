import type { Block } from '../block.ts'
import { InlineText } from './inline-text.ts'
import { TableRows } from './table-rows.ts'

const BLOCKS = new Set(
  (
    'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol p pre section summary table tbody td tfoot th thead tr ul'
  ).split(' '),
)
const LISTS = new Set(['ul', 'ol'])
const EMPHASIS: Record<string, '**' | '*'> = { strong: '**', b: '**', em: '*', i: '*' }
// Deeper items are not indented further: the indents of 100,000 nested lists would take gigabytes.
const MAX_INDENT = 6
// A `main` with less text than this, and less than half of the page's text, is a markup error.
const MAIN_CHARS = 200
/** The heading of a table of contents. */
const CONTENTS =
  /^#*\s*(?:table of contents|contents|on this page|in this article|inhalt(?:sverzeichnis)?|sommaire|table des matières|[íi]ndice|contenido|inhoud|目次)\s*$/iu
/** A paragraph that begins with a question in bold is an FAQ entry. */
const BOLD_QUESTION = /^\*\*([^*\n]{3,200}[?？؟])\*\*(?:\s+|$)/u

interface Placed extends Block {
  main: boolean
  around: boolean
}

/** Attributes that affect the text of an element. */
export interface HtmlAttributes {
  href: string
  /** Language of code. */
  language: string
  /** Number of the first item; NaN without one. */
  start: number
}

/** Converts the events of an HTML page to Markdown blocks. */
export class HtmlBlocks {
  readonly #blocks: Placed[] = []
  #kind: Block['kind'] = 'prose'
  #level = 0
  /** Level of the last real heading of the page. */
  #section = 0
  #lines: string[] = []
  /** The line being written. */
  readonly #line = new InlineText()
  #prefix = ''
  #pre: string[] | undefined
  #language = ''
  #table = 0
  readonly #rows = new TableRows()
  #isInCell = false
  #isHeaderCell = false
  /** For each open list, the number of its next item, or 0 if its items have no numbers. */
  #lists: number[] = []
  /** True if the outermost list contains only links to sections. */
  #isContents = true
  #main = false
  #around = false

  /** Sets whether the next text is in the main content or around it. */
  place(main: boolean, around: boolean): void {
    if (main === this.#main && around === this.#around) return
    this.#endBlock()
    this.#main = main
    this.#around = around
  }

  get isInHeading(): boolean {
    return this.#kind === 'heading'
  }

  text(text: string): void {
    if (this.#pre !== undefined) this.#pre.push(text)
    else this.#line.text(text)
  }

  /** Adds a heading that comes from an attribute of an element. */
  heading(text: string): void {
    if (this.#pre !== undefined || this.#lists.length > 0 || this.#table > 0) return
    this.#openFold()
    this.text(text)
    this.#endBlock()
  }

  /** Ends the section of the last such heading. */
  endHeading(): void {
    this.#endFold()
  }

  open(name: string, attributes: HtmlAttributes): void {
    if (this.#pre !== undefined) {
      if (name === 'br') this.#pre.push('\n')
      else if (name === 'code') this.#language = attributes.language
    } else if (name === 'br') this.#break()
    else if (name === 'code') this.#line.openCode()
    else if (name === 'a') this.#line.open('link', attributes.href)
    else if (EMPHASIS[name] !== undefined) this.#line.open(EMPHASIS[name])
    else if (!BLOCKS.has(name)) return
    else if (name === 'table') this.#openTable()
    else if (this.#table > 0) this.#openInTable(name)
    else if (name === 'pre') {
      this.#pre = []
      this.#language = attributes.language
    } else if (LISTS.has(name)) this.#openList(name === 'ol' ? (Number.isNaN(attributes.start) ? 1 : attributes.start) : 0)
    else if (this.#lists.length > 0) this.#openInList(name)
    else this.#openBlock(name)
  }

  close(name: string): void {
    if (this.#pre !== undefined) {
      if (name === 'pre') this.#endCode()
    } else if (name === 'code') this.#line.closeCode()
    else if (name === 'a') this.#line.close('link')
    else if (EMPHASIS[name] !== undefined) this.#line.close(EMPHASIS[name])
    else if (!BLOCKS.has(name)) return
    else if (this.#table > 0) this.#closeInTable(name)
    else if (this.#lists.length > 0) this.#closeInList(name)
    else {
      this.#endBlock()
      if (name === 'details' || name === 'dl') this.#endFold()
    }
  }

  /** Returns the main content if the page marks it, or else everything except the parts around the text. */
  finish(): Block[] {
    if (this.#pre !== undefined) this.#endCode()
    while (this.#table > 0) this.#closeInTable('table')
    this.#endBlock()
    const size = (blocks: Placed[]): number => blocks.reduce((sum, block) => sum + block.text.length, 0)
    const within = this.#blocks.filter((block) => !block.around)
    const main = within.filter((block) => block.main)
    const chosen =
      size(main) >= Math.min(MAIN_CHARS, size(within) / 2) && size(main) > 0 ? main : size(within) > 0 ? within : this.#blocks
    return chosen.map(({ kind, text, level }) => ({ kind, text, level }))
  }

  #break(): void {
    if (this.#table > 0 || this.#kind === 'heading') this.#line.text(' ')
    else this.#endLine(false)
  }

  #openBlock(name: string): void {
    this.#endBlock()
    const level = /^h([1-6])$/.exec(name)?.[1]
    if (level !== undefined) {
      this.#kind = 'heading'
      this.#level = Number(level)
      this.#section = this.#level
    } else if (name === 'summary' || name === 'dt') this.#openFold()
  }

  /** Opens a heading one level below its section, for a fold, a term or a question. */
  #openFold(): void {
    this.#endBlock()
    this.#kind = 'heading'
    this.#level = Math.min(6, this.#section + 1)
  }

  #endFold(): void {
    this.#endBlock()
    this.#push('end', '', Math.min(6, this.#section + 1))
  }

  #openTable(): void {
    if (this.#table === 0) {
      if (this.#lists.length === 0) {
        this.#endBlock()
        this.#kind = 'table'
      } else this.#endLine(true)
    }
    this.#table++
  }

  #openInTable(name: string): void {
    if (this.#table > 1) this.#line.text(' ')
    else if (name === 'tr') {
      this.#endCell()
      this.#rows.endRow()
    } else if (name === 'td' || name === 'th') {
      this.#endCell()
      this.#isInCell = true
      this.#isHeaderCell = name === 'th'
    } else if (name === 'thead') this.#rows.inHead = true
    else if (name === 'tbody') this.#closeInTable('thead')
    else this.#line.text(' ')
  }

  #closeInTable(name: string): void {
    if (name === 'table') {
      if (--this.#table > 0) return
      this.#closeInTable('tr')
      this.#rows.inHead = false
      for (const row of this.#rows.take()) this.#pushLine(row)
      if (this.#lists.length === 0) this.#endBlock()
    } else if (this.#table > 1) this.#line.text(' ')
    else if (name === 'td' || name === 'th') this.#endCell()
    else if (name === 'tr') {
      this.#endCell()
      this.#rows.endRow()
    } else if (name === 'thead') {
      this.#closeInTable('tr')
      this.#rows.inHead = false
    } else this.#line.text(' ')
  }

  #endCell(): void {
    if (!this.#isInCell && this.#line.isBlank) return
    this.#rows.cell(this.#line.take(true), this.#isHeaderCell)
    this.#isInCell = false
    this.#isHeaderCell = false
  }

  #openList(first: number): void {
    if (this.#lists.length === 0) {
      this.#endBlock()
      this.#kind = 'list'
      this.#isContents = true
      this.#line.takeCounts()
    }
    this.#endLine(true)
    this.#lists.push(first)
  }

  #openInList(name: string): void {
    this.#endLine(true)
    const depth = this.#lists.length - 1
    const indent = '  '.repeat(Math.min(depth, MAX_INDENT))
    if (name === 'li') {
      const number = this.#lists[depth]!
      if (number > 0) this.#lists[depth] = number + 1
      this.#prefix = `${indent}${number > 0 ? `${number}.` : '-'} `
    }
  }

  #closeInList(name: string): void {
    this.#endLine(true)
    if (!LISTS.has(name)) return
    this.#lists.pop()
    if (this.#lists.length > 0) return
    if (this.#isContents) {
      this.#lines = []
      const last = this.#blocks.at(-1)
      if (last?.kind === 'heading' && CONTENTS.test(last.text)) this.#blocks.pop()
    }
    this.#endBlock()
  }

  #endCode(): void {
    const code = this.#pre!.join('').replace(/^\n/, '').trimEnd()
    this.#pre = undefined
    if (code.trim() === '') return
    const fence = code.includes('```') ? '~~~~' : '```'
    const lines = [`${fence}${this.#language}`, code, fence]
    if (this.#lists.length > 0) {
      this.#endLine(true)
      this.#isContents = false
      for (const line of lines.join('\n').split('\n')) this.#pushLine(line)
      return
    }
    this.#endBlock()
    this.#kind = 'code'
    this.#lines.push(...lines)
    this.#endBlock()
  }

  #endLine(isLast: boolean): void {
    const { linked, chars } = this.#line.takeCounts()
    if (chars > linked) this.#isContents = false
    const line = this.#line.take(isLast)
    if (line !== '') this.#pushLine(line)
  }

  #pushLine(line: string): void {
    this.#lines.push(this.#prefix + line)
    this.#prefix = this.#prefix.replace(/\S/g, ' ')
  }

  #endBlock(): void {
    this.#endLine(true)
    if (this.#lines.length > 0) this.#add(this.#lines)
    this.#lines = []
    this.#prefix = ''
    this.#level = 0
    this.#kind = this.#lists.length > 0 ? 'list' : this.#table > 0 ? 'table' : 'prose'
  }

  #add(lines: string[]): void {
    if (this.#kind === 'heading') {
      this.#pushHeading(lines.join(' '), this.#level)
      return
    }
    const text = lines.join('\n')
    const question = this.#kind === 'prose' ? BOLD_QUESTION.exec(text) : null
    if (question !== null) this.#pushHeading(question[1]!, Math.min(6, this.#section + 1))
    const rest = text.slice(question?.[0].length ?? 0)
    if (rest !== '') this.#push(this.#kind, rest, 0)
  }

  #pushHeading(text: string, level: number): void {
    this.#push('heading', `${'#'.repeat(level)} ${text}`, level)
  }

  #push(kind: Block['kind'], text: string, level: number): void {
    this.#blocks.push({ kind, text, level, main: this.#main, around: this.#around })
  }
}
