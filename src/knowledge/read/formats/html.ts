import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import type { Reading } from '../block.ts'
import { firstHeading } from '../heading.ts'
import { type HtmlAttributes, HtmlBlocks } from './html-blocks.ts'
import { isHtmlElement } from './html-elements.ts'

const NO_ATTRIBUTES: Readonly<HtmlAttributes> = { href: '', language: '', start: Number.NaN }
const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
const DROPPED = new Set('script style template noscript head svg math iframe object select button dialog textarea'.split(' '))
/** Elements that are left out together with their captions. */
const PICTURES = new Set(['img', 'picture', 'video', 'svg', 'iframe'])
/** Elements around the text, unless they are inside `main` or `article`. */
const AROUND = new Set(['nav', 'header', 'footer', 'aside'])
const AROUND_ROLES = new Set(['navigation', 'banner', 'contentinfo', 'complementary', 'search'])
/** Attributes that contain the label of a component. */
const LABELS = new Set(['title', 'label', 'summary', 'question', 'header', 'heading'])
/** Ids and classes that site generators use for navigation: skip links, breadcrumbs, anchors next to headings, edit links. */
const FOR_MOVING =
  /(?:^|\s)(?:mw-jump(?:-link)?|jump-to-nav|mw-editsection|sitesub|contentsub|printfooter|toc|headerlink|hash-link|header-anchor|anchor-link|skip-link|skip-to-content|breadcrumbs?|back-to-top)(?:\s|$)/
const HIDDEN_STYLE = /display\s*:\s*none|visibility\s*:\s*hidden/i
// Their end tags are often left out, so hidden content in them would have no end.
const UNCLOSED = new Set(['p', 'li', 'dt', 'dd', 'tr', 'td', 'th', 'option', 'thead', 'tbody', 'tfoot'])

/**
 * Converts an HTML page to Markdown blocks, without scripts, navigation and hidden text. Uses a tokenizer and counters instead of a tree, so that time and
 * memory are linear for any nesting. `isMarkdown`: the page was written as Markdown, where `<name>` may be a placeholder and `<Name>` is a component.
 */
export function readHtml(text: string, isMarkdown = false): Reading {
  const reader = new HtmlReader(text, isMarkdown)
  const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: true }, reader)
  tokenizer.write(text)
  tokenizer.end()
  return reader.reading()
}

class HtmlReader implements TokenizerCallbacks {
  readonly #source: string
  readonly #isMarkdown: boolean
  readonly #out = new HtmlBlocks()
  #title = ''
  #inTitle = false
  /** The name as written, and in lower case. */
  #name = ''
  #tag = ''
  #attribute = ''
  #value = ''
  #role = ''
  #hidden = false
  #label = ''
  #attributes: HtmlAttributes = { ...NO_ATTRIBUTES }
  #count = 0
  /** The element whose content is skipped, and how many elements of its name are open. */
  #skipped: { name: string; depth: number } | undefined
  /** True if the current or last figure has a picture. */
  #hasPicture = false
  /** Depth in `main` and `article`, and in elements around the text. */
  #main = 0
  #around: { name: string; depth: number } | undefined
  /** Names of the open components that have a label. */
  readonly #labelled: string[] = []

  constructor(source: string, isMarkdown: boolean) {
    this.#source = source
    this.#isMarkdown = isMarkdown
  }

  reading(): Reading {
    const blocks = this.#out.finish()
    return { title: this.#title.replace(/\s+/g, ' ').trim() || firstHeading(blocks), blocks }
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#source.slice(start, end)
    this.#tag = this.#name.toLowerCase()
    this.#role = ''
    this.#hidden = false
    this.#label = ''
    this.#attributes = { ...NO_ATTRIBUTES }
    this.#count = 0
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#source.slice(start, end).toLowerCase()
    this.#value = ''
  }

  onattribdata(start: number, end: number): void {
    // No value that is used here is longer. `data:` URLs are.
    this.#value = (this.#value + this.#source.slice(start, end)).slice(0, 500)
  }

  onattribentity(codepoint: number): void {
    this.#value += String.fromCodePoint(codepoint)
  }

  onattribend(quote: QuoteType): void {
    const given = quote === QuoteType.NoValue ? '' : this.#value
    const value = given.toLowerCase()
    this.#count++
    if (this.#attribute === 'href') {
      this.#attributes.href = given.trim()
      this.#hidden ||= this.#tag === 'a' && value === '#top'
    } else if (this.#attribute === 'class') {
      this.#attributes.language = /(?:^|\s)language-([\w+#.-]{1,40})/.exec(given)?.[1] ?? ''
      this.#hidden ||= FOR_MOVING.test(value)
    } else if (this.#attribute === 'id') this.#hidden ||= FOR_MOVING.test(value)
    else if (this.#attribute === 'start') this.#attributes.start = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN
    else if (LABELS.has(this.#attribute)) this.#label ||= given.trim()
    else if (this.#attribute === 'role') this.#role = value
    else if (this.#attribute === 'hidden') this.#hidden ||= value !== 'false'
    else if (this.#attribute === 'aria-hidden') this.#hidden ||= value === 'true'
    else if (this.#attribute === 'style') this.#hidden ||= HIDDEN_STYLE.test(value)
  }

  onopentagend(): void {
    this.#open(this.#tag, VOID.has(this.#tag))
  }

  onselfclosingtag(): void {
    this.#open(this.#tag, true)
  }

  onclosetag(start: number, end: number): void {
    const name = this.#source.slice(start, end).toLowerCase()
    if (name === 'title') this.#inTitle = false
    if (this.#skipped !== undefined) {
      if (name === this.#skipped.name && --this.#skipped.depth === 0) this.#skipped = undefined
      return
    }
    if (name === this.#labelled.at(-1)) {
      this.#labelled.pop()
      this.#out.endHeading()
    }
    if (name === 'main' || name === 'article') this.#main = Math.max(0, this.#main - 1)
    if (name === this.#around?.name && --this.#around.depth === 0) this.#around = undefined
    this.#out.close(name)
    this.#out.place(this.#main > 0, this.#around !== undefined)
  }

  ontext(start: number, end: number): void {
    this.#text(this.#source.slice(start, end))
  }

  ontextentity(codepoint: number): void {
    this.#text(String.fromCodePoint(codepoint))
  }

  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #text(text: string): void {
    if (this.#inTitle) this.#title += text
    else if (this.#skipped === undefined) this.#out.text(text)
  }

  #open(name: string, empty: boolean): void {
    if (name === 'title' && this.#title === '' && (this.#skipped === undefined || this.#skipped.name === 'head'))
      this.#inTitle = true
    if (this.#skipped !== undefined) {
      // The head ends at the first body if its end tag is missing.
      if (this.#skipped.name === 'head' && name === 'body') this.#skipped = undefined
      else if (name === this.#skipped.name && !empty) this.#skipped.depth++
      return
    }
    if (this.#isMarkdown && !isHtmlElement(name)) {
      this.#openOther(empty)
      return
    }
    const isInHeading = name === 'button' && this.#out.isInHeading
    if (name === 'figure') this.#hasPicture = false
    else if (PICTURES.has(name)) this.#hasPicture = true
    const isCaption = name === 'figcaption' && this.#hasPicture
    const dropped = isCaption || (DROPPED.has(name) && !isInHeading) || name === 'title' || (this.#hidden && !UNCLOSED.has(name))
    if (dropped && !empty) this.#skipped = { name, depth: 1 }
    if (dropped) return
    if (name === 'main' || name === 'article') this.#main++
    if (this.#around !== undefined) {
      if (name === this.#around.name && !empty) this.#around.depth++
    } else if (this.#main === 0 && (AROUND.has(name) || AROUND_ROLES.has(this.#role)) && !empty) this.#around = { name, depth: 1 }
    this.#out.place(this.#main > 0, this.#around !== undefined)
    this.#out.open(name, this.#attributes)
  }

  /** Writes the label of a component as the heading of its content. A name without attributes is a placeholder in angle brackets. */
  #openOther(empty: boolean): void {
    if (this.#name !== this.#tag) {
      if (this.#label !== '' && !empty) {
        this.#labelled.push(this.#tag)
        this.#out.heading(this.#label)
      }
    } else if (this.#count === 0) this.#out.text(`<${this.#name}${empty ? '/' : ''}>`)
  }
}
