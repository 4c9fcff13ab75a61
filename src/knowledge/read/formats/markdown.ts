import markdownIt from 'markdown-it'
import type { Reading } from '../block.ts'
import { firstHeading } from '../heading.ts'
import { withoutFrontMatter } from './front-matter.ts'
import { readHtml } from './html.ts'
import { plainMarkdown } from './site-syntax.ts'

const markdown = markdownIt({ html: true })

/** Reads Markdown, including the extensions of site generators, as the text and structure that readers see. */
export function readMarkdown(text: string): Reading {
  const { title, body } = withoutFrontMatter(text)
  const { blocks } = readHtml(markdown.render(plainMarkdown(body)), true)
  return { title: title ?? firstHeading(blocks), blocks }
}
