import { RenderThread } from './render-thread.ts'

/** Longer Markdown would hold up other requests for more than 50 ms. */
const LONG_CHARS = 10_000

let html: Promise<typeof import('./html.ts')> | undefined
const thread = new RenderThread()

/**
 * Returns Markdown as safe HTML (see `html.ts`). Long Markdown is rendered in a thread, where owners take turns. The renderer and the sanitiser are loaded at
 * first use: most deployments never ask for HTML. Rejects with `unavailable` if the thread ends over it.
 */
export async function renderHtml(source: string, imageHosts: string[], owner = ''): Promise<string> {
  if (source.length > LONG_CHARS) return thread.render(owner, { source, imageHosts })
  html ??= import('./html.ts').catch((error: unknown) => {
    html = undefined // for want of descriptors, say: the next one tries again
    throw error
  })
  return (await html).renderHtml(source, imageHosts)
}
