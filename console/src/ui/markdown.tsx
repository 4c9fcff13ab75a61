import './prose.css'
import { lazy, type ReactNode, Suspense } from 'react'

const load = () => import('./markdown-renderer.tsx')
const Renderer = lazy(load)

/** For a page that will soon show some: then nothing moves when it comes. */
export const preloadMarkdown = () => void load()

/** Text of a model or an author. HTML in it is text, images are links, and until the renderer is there the text is shown as it was written. */
export function Markdown({ text, citation }: { text: string; citation?: ((n: number) => ReactNode) | undefined }) {
  const asWritten = (
    <div className="prose" dir="auto">
      <p style={{ whiteSpace: 'pre-wrap' }}>{text}</p>
    </div>
  )
  return (
    <Suspense fallback={asWritten}>
      <Renderer text={text} citation={citation} />
    </Suspense>
  )
}
