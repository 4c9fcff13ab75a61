import type { Heading } from './markdown.ts'
import { type Page, plain } from './pages.ts'

/** A section of a page under one heading. */
export interface Entry {
  /** Path below `/docs/`. */
  to: string
  page: string
  heading: string
  text: string
}

/** Returns the search entries of a page. `headings` lists the headings of the rendered page in order. */
export function entriesOf({ path, title, markdown }: Page, headings: readonly Heading[]): Entry[] {
  // Lines that look like headings inside code blocks are not headings.
  const text = markdown.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/^```.*$/gm, '').replace(/^#/gm, ' #'))
  const parts = text.split(/^#{1,6} .*$/m)
  return parts.slice(1).map((text, i) => {
    const { id, level, text: heading } = headings[i]!
    return {
      to: level === 1 ? `${path}/` : `${path}/#${id}`,
      page: title,
      heading: level === 1 ? title : heading,
      text: plain(text).replace(/\s+/g, ' ').trim(),
    }
  })
}
