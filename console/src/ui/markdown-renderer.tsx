import MarkdownIt from 'markdown-it'
import { type ReactNode, useMemo } from 'react'
import { SafeHtml } from './safe-html.tsx'

const markdownIt = new MarkdownIt({ html: false, linkify: true, breaks: false })

/** See `Markdown`, which loads this when it is first needed. */
export function MarkdownRenderer({ text, citation }: { text: string; citation?: ((n: number) => ReactNode) | undefined }) {
  const html = useMemo(() => markdownIt.render(text), [text])
  return <SafeHtml html={html} citation={citation} />
}
