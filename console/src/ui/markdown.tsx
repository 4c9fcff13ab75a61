import './mark.css'
import { type ReactNode, useEffect } from 'react'
import { AsWritten } from './as-written.tsx'
import { loaded } from './loaded.ts'

const renderer = loaded(async () => (await import('./markdown-renderer.tsx')).MarkdownRenderer)

/** For a page that will soon show some: then nothing moves when it comes. Without a connection the next text asks for it again. */
export const preloadMarkdown = () => void renderer.want().catch(() => {})

/** Text of a model or an author. HTML in it is text, images are links, and until the renderer is there the text is shown as it was written. */
export function Markdown({ text, citation }: { text: string; citation?: ((n: number) => ReactNode) | undefined }) {
  const Renderer = renderer.use()
  const isThere = Renderer !== undefined
  useEffect(() => {
    if (isThere) return
    preloadMarkdown()
    addEventListener('online', preloadMarkdown)
    return () => removeEventListener('online', preloadMarkdown)
  }, [isThere])
  if (isThere) return <Renderer text={text} citation={citation} />
  return <AsWritten text={text} />
}
