import type { Block } from './block.ts'

const MOST_CHARS = 500

/** The words of the first heading of the first level, or else of the first one; null without one. */
export function firstHeading(blocks: readonly Block[]): string | null {
  const headings = blocks.filter(({ kind }) => kind === 'heading')
  const first = headings.find(({ level }) => level === 1) ?? headings[0]
  return (first && headingText(first.text)) || null
}

/** The words of a heading block, without its marks. */
export function headingText(block: string): string {
  return block
    .split('\n', 1)[0]!
    .slice(0, MOST_CHARS)
    .replace(/^ {0,3}#{1,6}(?=[ \t]|$)/, '')
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/\\([!-/:-@[-`{-~])|[*`]|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '$1')
    .trim()
}
