import type { MarkdownIt } from 'markdown-it'

/** Tables pad short rows with cells, and links repeat the address of their definition: a short text could become many megabytes. */
const MOST_TIMES = 5
const MORE_CHARS = 50_000
const TOKENS_A_CHAR = 2
const MORE_TOKENS = 10_000

class TooLong extends Error {}

/** Returns the maximum characters of HTML for a Markdown text. */
export const mostChars = (source: string): number => MOST_TIMES * source.length + MORE_CHARS

/** Limits a renderer: the returned function returns undefined for Markdown that multiplies, before it makes the HTML. */
export function bounded(markdown: MarkdownIt): (source: string) => string | undefined {
  /** Remaining limits for the current text. */
  let tokensLeft = 0
  let attributeCharsLeft = 0
  markdown.block.State = class extends markdown.block.State {
    override push(...token: Parameters<InstanceType<typeof markdown.block.State>['push']>) {
      if (--tokensLeft < 0) throw new TooLong()
      return super.push(...token)
    }
  }
  const renderAttrs = markdown.renderer.renderAttrs.bind(markdown.renderer)
  markdown.renderer.renderAttrs = (token) => {
    const text = renderAttrs(token)
    attributeCharsLeft -= text.length
    if (attributeCharsLeft < 0) throw new TooLong()
    return text
  }
  return (source) => {
    tokensLeft = TOKENS_A_CHAR * source.length + MORE_TOKENS
    attributeCharsLeft = mostChars(source)
    try {
      return markdown.render(source)
    } catch (error) {
      if (error instanceof TooLong) return undefined
      throw error
    }
  }
}
