import { copyFileSync, writeFileSync } from 'node:fs'
import { growthPlot, PUBLISHED, performancePage, searchPlot } from './performance-page.ts'

/** Publishes these results in the documentation. */
export function writeDocs(path: string): void {
  copyFileSync(path, PUBLISHED)
  const made = {
    'docs/performance.md': performancePage(),
    'docs/images/search.svg': searchPlot(),
    'docs/images/growth.svg': growthPlot(),
  }
  for (const [name, text] of Object.entries(made)) writeFileSync(new URL(`../${name}`, import.meta.url), text)
  console.log(`Written: bench/results/published.json, ${Object.keys(made).join(', ')}`)
}
