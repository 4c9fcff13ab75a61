import type { Block, Reading } from './block.ts'

// Each of these is linear in the line: lines of a megabyte do occur.
const ATX = /^ {0,3}(#{1,6})(?=[ \t]|$)/
const FENCE = /^ {0,3}(`{3,}|~{3,})/
const SETEXT = /^ {0,3}(=+|-+)[ \t]*$/
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/
const TABLE_RULE = /^[ \t|:-]+$/
const FRONT_MATTER_TITLE = /^title[ \t]*:(.+)$/im
const HEADING_CHARS = 500
// Longer "front matter" is a document that opens with a rule.
const FRONT_MATTER_LINES = 200

/** Markdown as written, in blocks by line: headings, fences, lists, tables, prose. Front matter and comments are not text. */
export function readMarkdown(text: string): Reading {
  const lines = text.split('\n')
  const front = frontMatter(lines)
  const scanner = new Scanner(lines, front.length)
  const blocks = scanner.scan()
  const given = FRONT_MATTER_TITLE.exec(front.join('\n'))?.[1]
    ?.trim()
    .replace(/^(["'])(.*)\1$/, '$2')
  const heading =
    blocks.find((block) => block.kind === 'heading' && block.level === 1) ?? blocks.find((block) => block.kind === 'heading')
  return { title: given || (heading && (headingText(heading.text) || null)) || null, blocks }
}

/** The words of a heading block, without its marks. */
export function headingText(block: string): string {
  return block
    .split('\n', 1)[0]!
    .slice(0, HEADING_CHARS)
    .replace(ATX, '')
    .replace(/[ \t]#+[ \t]*$/, '')
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/[*`]|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '')
    .replace(/\s*\{#[^}]*\}\s*$/, '')
    .trim()
}

function frontMatter(lines: string[]): string[] {
  if (lines[0]?.trimEnd() !== '---') return []
  for (let at = 1; at < lines.length && at < FRONT_MATTER_LINES; at++) {
    if (/^(?:---|\.\.\.)\s*$/.test(lines[at]!)) return lines.slice(0, at + 1)
  }
  return []
}

const isTableRule = (line = ''): boolean => line.includes('-') && TABLE_RULE.test(line)
const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === ''

class Scanner {
  readonly #lines: string[]
  #at: number
  readonly #blocks: Block[] = []
  /** No comment ends below: remembered, or a file of unclosed comments would be searched once for each. */
  #unclosed = false

  constructor(lines: string[], at: number) {
    this.#lines = lines
    this.#at = at
  }

  scan(): Block[] {
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at]!
      const heading = ATX.exec(line)
      if (isBlank(line)) this.#at++
      else if (heading !== null) this.#take('heading', this.#at + 1, heading[1]!.length)
      else if (FENCE.test(line)) this.#take('code', this.#fenceEnd(FENCE.exec(line)![1]!))
      else if (!this.#unclosed && line.trimStart().startsWith('<!--')) this.#skipComment()
      else if (ITEM.test(line)) this.#take('list', this.#listEnd())
      else if (line.includes('|') && isTableRule(this.#lines[this.#at + 1])) this.#take('table', this.#proseEnd())
      else this.#prose()
    }
    return this.#blocks
  }

  #take(kind: Block['kind'], end: number, level = 0): void {
    const text = this.#lines.slice(this.#at, end).join('\n').trimEnd()
    if (text !== '') this.#blocks.push({ kind, text, level })
    this.#at = end
  }

  #prose(): void {
    const start = this.#at
    const end = this.#proseEnd()
    const rule = SETEXT.exec(this.#lines[end - 1]!)
    // A setext heading is one line here: of several, all but the last are taken for prose.
    if (rule !== null && end - start >= 2) {
      if (end - start > 2) this.#take('prose', end - 2)
      this.#take('heading', end, rule[1]!.startsWith('=') ? 1 : 2)
    } else this.#take('prose', end)
  }

  /** The line after a paragraph or table: at a blank line, behind a setext rule, or where another block begins. */
  #proseEnd(): number {
    let at = this.#at + 1
    for (; at < this.#lines.length; at++) {
      const line = this.#lines[at]!
      if (SETEXT.test(line)) return at + 1
      if (isBlank(line) || ATX.test(line) || FENCE.test(line) || ITEM.test(line)) break
    }
    return at
  }

  #fenceEnd(fence: string): number {
    for (let at = this.#at + 1; at < this.#lines.length; at++) {
      const close = FENCE.exec(this.#lines[at]!)?.[1]
      if (close?.startsWith(fence) && this.#lines[at]!.trim() === close) return at + 1
    }
    return this.#lines.length
  }

  /** A list goes on over blank lines as long as what follows is indented or another item; fences inside it belong to it. */
  #listEnd(): number {
    let at = this.#at + 1
    let fence: string | undefined
    for (; at < this.#lines.length; at++) {
      const line = this.#lines[at]!
      const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
      if (fence !== undefined) {
        if (mark?.startsWith(fence)) fence = undefined
      } else if (mark !== undefined && (/^\s{2,}/.test(line) || !isBlank(this.#lines[at - 1]))) fence = mark
      else if (ATX.test(line) || FENCE.test(line)) break
      else if (isBlank(this.#lines[at - 1]) && !isBlank(line) && !/^(?: {2,}|\t)/.test(line) && !ITEM.test(line)) break
    }
    return at
  }

  #skipComment(): void {
    let end = this.#at
    while (end < this.#lines.length && !this.#lines[end]!.includes('-->')) end++
    const rest = this.#lines[end]?.split('-->').slice(1).join('-->') ?? ''
    this.#unclosed = end === this.#lines.length
    if (this.#unclosed || !isBlank(rest)) this.#take('prose', this.#at + 1)
    else this.#at = end + 1
  }
}
