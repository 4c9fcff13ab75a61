import { JobThread } from '../core/fairness/job-thread.ts'
import { moduleBeside } from '../core/platform/module-beside.ts'
import type { RenderRequest } from './render-worker.ts'

/** Longer Markdown would hold up other requests for more than 50 ms. */
const LONG_CHARS = 10_000

/** A reply that takes longer, such as a table of thousands of columns, is rendered elsewhere while others wait. */
const SLOW_MS = 500

let html: Promise<typeof import('./html.ts')> | undefined
const thread = new JobThread<RenderRequest, string>({
  module: moduleBeside(import.meta.url, './render-worker'),
  // The longest reply takes some 100 MB.
  heapMb: 512,
  broken: 'The reply could not be rendered. Try again.',
  slowMs: SLOW_MS,
})

/**
 * Returns Markdown as safe HTML (see `html.ts`). Long Markdown is rendered in threads, where owners take turns. The renderer and the sanitiser are loaded at
 * first use: most deployments never ask for HTML. Rejects with `unavailable` if the thread ends over it.
 */
export async function renderHtml(source: string, imageHosts: string[], owner = ''): Promise<string> {
  if (source.length > LONG_CHARS) return thread.run(owner, { source, imageHosts })
  html ??= import('./html.ts').catch((error: unknown) => {
    html = undefined // for want of descriptors, say: the next one tries again
    throw error
  })
  return (await html).renderHtml(source, imageHosts)
}
