import MarkdownIt from 'markdown-it'
import { type ReactNode, useMemo } from 'react'
import { bounded } from '../../../src/render/bounded.ts'
import { AsWritten } from './as-written.tsx'
import { SafeHtml } from './safe-html.tsx'

const render = bounded(new MarkdownIt({ html: false, linkify: true, breaks: false }))

/** See `Markdown`, which loads this when it is first needed. What would become far longer than it is, such as tables of empty cells, is shown as it was written. */
export function MarkdownRenderer({ text, citation }: { text: string; citation?: ((n: number) => ReactNode) | undefined }) {
  const html = useMemo(() => render(text), [text])
  return html === undefined ? <AsWritten text={text} /> : <SafeHtml html={html} citation={citation} />
}
