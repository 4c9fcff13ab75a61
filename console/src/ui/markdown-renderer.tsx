import MarkdownIt from 'markdown-it'
import { type ReactNode, useMemo } from 'react'
import { bounded } from '../../../src/render/bounded.ts'
import { AsWritten } from './as-written.tsx'
import { SafeHtml } from './safe-html.tsx'

const render = bounded(new MarkdownIt({ html: false, linkify: true, breaks: false }))

/** `Markdown` loads this on first use. Text whose HTML would be far longer, such as tables of empty cells, is shown as plain text. */
export function MarkdownRenderer({ text, citation }: { text: string; citation?: ((n: number) => ReactNode) | undefined }) {
  const html = useMemo(() => render(text), [text])
  return html === undefined ? <AsWritten text={text} /> : <SafeHtml html={html} citation={citation} />
}
