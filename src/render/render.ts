import { JobThread } from '../core/fairness/job-thread.ts'
import { moduleBeside } from '../core/platform/module-beside.ts'
import type { RenderRequest } from './render-worker.ts'

/** Longer Markdown would block other requests for more than 50 ms. */
const LONG_CHARS = 10_000

/** A slower reply, such as a table of thousands of columns, moves to another thread while others wait. */
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
 * Renders Markdown as safe HTML (see `html.ts`), long Markdown in threads where owners take turns. Rejects with `unavailable` if the thread dies.
 * The renderer and the sanitizer are loaded at first use, because most deployments never request HTML.
 */
export async function renderHtml(source: string, imageHosts: string[], owner = ''): Promise<string> {
  if (source.length > LONG_CHARS) return thread.run(owner, { source, imageHosts })
  html ??= import('./html.ts').catch((error: unknown) => {
    html = undefined // for example, no file descriptors: the next call tries again
    throw error
  })
  return (await html).renderHtml(source, imageHosts)
}
