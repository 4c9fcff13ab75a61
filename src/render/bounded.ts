import type { MarkdownIt } from 'markdown-it'

/** A table adds cells to short rows, and a link repeats the address of its definition: a short text could become many megabytes. */
const MOST_TIMES = 5
const MORE_CHARS = 50_000
const TOKENS_A_CHAR = 2
const MORE_TOKENS = 10_000

class TooLong extends Error {}

/** The most characters of HTML that Markdown should become. */
export const mostChars = (source: string): number => MOST_TIMES * source.length + MORE_CHARS

/** Makes a renderer stop at Markdown that multiplies: then the function returns undefined, before the HTML is made. */
export function bounded(markdown: MarkdownIt): (source: string) => string | undefined {
  /** What the text that is being rendered may still become. */
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
