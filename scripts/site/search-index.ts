import type { Heading } from './markdown.ts'
import { type Page, plain } from './pages.ts'

/** A part of a page, under one heading. */
export interface Entry {
  /** Below `/docs/`. */
  to: string
  page: string
  heading: string
  text: string
}

/** What the search of the site looks through. The headings are those of the page as rendered, in order. */
export function entriesOf({ path, title, markdown }: Page, headings: readonly Heading[]): Entry[] {
  // What looks like a heading in a block of code is none.
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
