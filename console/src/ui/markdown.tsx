import './mark.css'
import { type ReactNode, useEffect } from 'react'
import { AsWritten } from './as-written.tsx'
import { loaded } from './loaded.ts'

const renderer = loaded(async () => (await import('./markdown-renderer.tsx')).MarkdownRenderer)

/** Loads the renderer early, so that the layout does not shift later. If it fails, the next text tries again. */
export const preloadMarkdown = () => void renderer.want().catch(() => {})

/** Renders Markdown of a model or an author. HTML in it becomes text, and images become links. Shows plain text until the renderer is loaded. */
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
