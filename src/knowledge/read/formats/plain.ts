import type { Block, Reading } from '../block.ts'

/** Reads plain text as paragraphs, which blank lines separate. */
export function readPlain(text: string): Reading {
  const blocks: Block[] = []
  for (const part of text.split(/\n(?:[^\S\n]*\n)+/)) {
    const paragraph = part.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd()
    if (paragraph !== '') blocks.push({ kind: 'prose', text: paragraph, level: 0 })
  }
  return { title: null, blocks }
}
