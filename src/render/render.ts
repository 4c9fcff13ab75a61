/** Markdown as safe HTML (see `html.ts`). The renderer and the sanitiser are loaded at first use: most deployments never ask for HTML. */
export async function renderHtml(source: string, imageHosts: string[]): Promise<string> {
  const html = await import('./html.ts')
  return html.renderHtml(source, imageHosts)
}
