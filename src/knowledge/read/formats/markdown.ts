import markdownIt from 'markdown-it'
import type { Reading } from '../block.ts'
import { firstHeading } from '../heading.ts'
import { withoutFrontMatter } from './front-matter.ts'
import { readHtml } from './html.ts'
import { plainMarkdown } from './site-syntax.ts'

const markdown = markdownIt({ html: true })

/** Markdown, with what site generators add to it, as the text and the structure that its readers see. */
export function readMarkdown(text: string): Reading {
  const { title, body } = withoutFrontMatter(text)
  const { blocks } = readHtml(markdown.render(plainMarkdown(body)), true)
  return { title: title ?? firstHeading(blocks), blocks }
}
