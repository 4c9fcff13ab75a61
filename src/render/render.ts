let html: Promise<typeof import('./html.ts')> | undefined

/** Markdown as safe HTML (see `html.ts`). The renderer and the sanitiser are loaded at first use: most deployments never ask for HTML. */
export async function renderHtml(source: string, imageHosts: string[]): Promise<string> {
  html ??= import('./html.ts').catch((error: unknown) => {
    html = undefined // for want of descriptors, say: the next one tries again
    throw error
  })
  return (await html).renderHtml(source, imageHosts)
}
