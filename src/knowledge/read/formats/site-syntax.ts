/** Lines that start or end code, also in lists and quotations. */
const FENCE = /^(?:[ \t>]|[-*+] )*(`{3,}|~{3,})/
const CODE = /`+[^`\n]*`+/g
/** Docusaurus, VitePress, VuePress: `:::tip Title`. */
const CONTAINER = /^([ \t>]*):{3,}[ \t]*([\w-]*)[ \t]*(.*)$/
/** MkDocs: `!!! note "Title"`, `??? question "Title"`, `=== "Tab"`. Their content is indented by four spaces. */
const ADMONITION = /^([ \t]*)(!!!|\?\?\?\+?|===)[ \t]+(?:[\w-]+(?:[ \t]+"([^"]*)")?|"([^"]*)")$/
const CALLOUT = /^([ \t]*(?:>[ \t]*)+)\[![\w-]{1,30}\][+-]?[ \t]*(.*)$/
const MODULE_LINE =
  /^(?:import[ \t]+(?:[^'"\n]*[ \t]from[ \t]*)?['"][^'"\n]*['"];?|export[ \t]+(?:const|default|function|let|async)\b.*)[ \t]*$/
const CONTENTS = /^[ \t]*(?:\[\[_?toc_?\]\]|\[toc\]|\$\{?toc\}?|\$[\w-]{1,60}\$|\{:?toc\}|@\[toc\])[ \t]*$/i
const SHORTCODE = /\{\{[<%]?([^{}\n]{0,400})[%>]?\}\}|\{%((?:[^%{\n]|%(?!\})){0,400})%\}/g
const ATTRIBUTES = /\{:[^{}\n]{0,200}\}|\{[#.][^{}\n]{0,200}\}[ \t]*$/g
const COMMENT = /\{\/\*[^*\n]{0,500}\*\/\}/g
const WIKILINK = /(!?)\[\[([^[\]|\n]{1,200})(?:\|([^[\]\n]{0,200}))?\]\]/g
const FOOTNOTE = /\[\^[^\]\s]{1,60}\](:[ \t]*)?/g
const BRACE_VALUE = /([ \t][\w-]{1,60})=\{(?:[^{}\n]|\{[^{}\n]{0,300}\}){0,500}\}/g
/** Attributes with the visible label of a shortcode. */
const LABEL = /\b(?:title|summary|question|label|heading|header)[ \t]*=[ \t]*(?:"([^"]{1,300})"|'([^']{1,300})')/i
const QUOTED = /^[ \t]*[\w/-]+[ \t]+"([^"]*[ ?][^"]*)"/
const NAME = /^(\/|end)?[ \t]*([\w-]{1,60})/
/** Shortcodes whose title belongs to a picture, a video or a page. */
const WITHOUT_TEXT = new Set('button embed figure file icon image img include link ref relref video vimeo youtube'.split(' '))
/** Emphasis that ends in punctuation before a letter, as in Japanese and Chinese, is not emphasis in Markdown. */
const TIGHT_EMPHASIS = /\*\*([^*\n]{1,200}[\p{P}\p{S}])\*\*(?=[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}])/gu
const HAS_SYNTAX = /[{[:]|\*\*|!!!|\?\?\?|===|^(?:im|ex)port[ \t]|\$/m

/**
 * Converts the Markdown of site generators (without front matter) to plain Markdown with HTML. Containers, callouts, shortcodes, attributes, wikilinks,
 * footnotes and modules become their text without marks. Folds with their titles become `details`. Code is unchanged. Takes time linear in the length.
 */
export function plainMarkdown(text: string): string {
  if (!HAS_SYNTAX.test(text)) return text
  const writer = new Writer()
  for (const line of text.split('\n')) writer.line(line)
  return writer.text
}

class Writer {
  readonly #lines: string[] = []
  #fence: string | undefined
  /** For each open container, true if it is a fold. */
  readonly #containers: boolean[] = []
  /** Names of open shortcodes that are folds. */
  readonly #shortcodes: string[] = []
  /** The open admonitions, with the indent of their lines. */
  readonly #admonitions: { indent: number; isFold: boolean }[] = []

  get text(): string {
    return this.#lines.join('\n')
  }

  line(line: string): void {
    const own = this.#dedented(line)
    const fence = FENCE.exec(own)?.[1]
    if (this.#fence !== undefined) {
      if (fence?.startsWith(this.#fence)) this.#fence = undefined
      this.#lines.push(own)
    } else if (fence !== undefined) {
      this.#fence = fence
      this.#lines.push(own)
    } else if (!this.#block(own)) this.#lines.push(this.#outsideCode(own))
  }

  /** Returns the line without the indent of its admonitions. */
  #dedented(line: string): string {
    if (this.#admonitions.length === 0) return line
    const blank = line.trim() === ''
    const indent = line.length - line.trimStart().length
    while (!blank && this.#admonitions.length > 0 && indent < this.#admonitions.at(-1)!.indent) {
      const { isFold } = this.#admonitions.pop()!
      this.#lines.push('', ...(isFold ? ['</details>', ''] : []))
    }
    return line.slice(Math.min(indent, 4 * this.#admonitions.length))
  }

  #block(line: string): boolean {
    const container = CONTAINER.exec(line)
    if (container !== null) return this.#container(container)
    const admonition = ADMONITION.exec(line.trimEnd())
    if (admonition !== null) {
      const [, indent = '', mark = '', title, tab] = admonition
      const isFold = mark.startsWith('?')
      this.#admonitions.push({ indent: indent.length + 4 * (this.#admonitions.length + 1), isFold })
      this.#titled(indent, title ?? tab ?? '', isFold ? 'fold' : 'note')
      return true
    }
    const callout = CALLOUT.exec(line)
    if (callout !== null) {
      const title = this.#outsideCode(callout[2]!).trim()
      this.#lines.push(title === '' ? callout[1]! : `${callout[1]}**${title}**\n${callout[1]}`)
      return true
    }
    return MODULE_LINE.test(line) || CONTENTS.test(line)
  }

  #container([, indent, name, rest]: RegExpExecArray): boolean {
    if (name === '' && rest === '') {
      if (this.#containers.pop() === true) this.#lines.push('', `${indent}</details>`)
      this.#lines.push('')
      return true
    }
    const isFold = name === 'details'
    this.#containers.push(isFold)
    this.#titled(
      indent!,
      this.#outsideCode(rest!.replace(/^\[(.*)\]$/, '$1').replace(/\{[^{}]*\}/g, '')).trim(),
      isFold ? 'fold' : 'note',
    )
    return true
  }

  #titled(indent: string, title: string, kind: 'fold' | 'note'): void {
    const isWords = title !== '' && /\p{L}/u.test(title)
    if (kind === 'fold') this.#lines.push('', `${indent}<details>${isWords ? `<summary>${title}</summary>` : ''}`, '')
    else if (isWords) this.#lines.push('', `${indent}**${title}**`, '')
    else this.#lines.push(indent.trimEnd())
  }

  /** Returns the line with site syntax resolved, except in code. */
  #outsideCode(line: string): string {
    if (!line.includes('`')) return this.#resolved(line)
    let text = ''
    let at = 0
    for (const { index, 0: code } of line.matchAll(CODE)) {
      text += this.#resolved(line.slice(at, index)) + code
      at = index + code.length
    }
    return text + this.#resolved(line.slice(at))
  }

  #resolved(text: string): string {
    let line = text
    if (line.includes('{'))
      line = line
        .replace(BRACE_VALUE, '$1=""')
        .replace(SHORTCODE, (_, hugo: string | undefined, liquid: string | undefined) => this.#shortcode(hugo ?? liquid ?? ''))
        .replace(COMMENT, '')
        .replace(ATTRIBUTES, '')
    if (line.includes('[['))
      line = line.replace(WIKILINK, (_, embeds: string, page: string, label: string | undefined) =>
        embeds === '' ? label || page.replace(/^.*[#/]/, '') : '',
      )
    if (line.includes('**')) line = line.replace(TIGHT_EMPHASIS, '$1')
    return line.includes('[^') ? line.replace(FOOTNOTE, '') : line
  }

  /** Returns the visible part of a shortcode: its title, which starts a fold. */
  #shortcode(inside: string): string {
    const [, ends, name = ''] = NAME.exec(inside.trimStart()) ?? []
    if (ends !== undefined) {
      if (this.#shortcodes.at(-1) !== name) return ''
      this.#shortcodes.pop()
      return '\n\n</details>\n\n'
    }
    const label = LABEL.exec(inside) ?? QUOTED.exec(inside)
    if (label === null || WITHOUT_TEXT.has(name)) return ''
    this.#shortcodes.push(name)
    return `\n\n<details><summary>${label[1] ?? label[2]}</summary>\n\n`
  }
}
