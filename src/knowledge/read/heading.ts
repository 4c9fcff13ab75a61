import type { Block } from './block.ts'

const MOST_CHARS = 500

/** Returns the text of the first heading of level 1, or else of the first heading, or null without headings. */
export function firstHeading(blocks: readonly Block[]): string | null {
  const headings = blocks.filter(({ kind }) => kind === 'heading')
  const first = headings.find(({ level }) => level === 1) ?? headings[0]
  return (first && headingText(first.text)) || null
}

/** Returns the text of a heading block without Markdown marks. */
export function headingText(block: string): string {
  return block
    .split('\n', 1)[0]!
    .slice(0, MOST_CHARS)
    .replace(/^ {0,3}#{1,6}(?=[ \t]|$)/, '')
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/\\([!-/:-@[-`{-~])|[*`]|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '$1')
    .trim()
}
