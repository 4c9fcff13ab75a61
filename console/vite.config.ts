import { readFileSync } from 'node:fs'
import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'

/** `npm run dev` serves the console with changes shown at once, and hands the requests to a service that runs beside it. */
const service = 'http://127.0.0.1:8080'
/** The languages of `src/texts/locales.ts`, as React Aria calls them. */
const locales = ['en-US', 'ar-AE']

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/** React Aria speaks thirty languages; only ours are shipped. */
const ourLanguages: Plugin = {
  name: 'our-languages',
  enforce: 'pre',
  load(id) {
    const locale = /\/(?:react-aria|react-stately|react-aria-components)\/.*intl\/.*\/([a-z]{2}-[A-Z]{2})\.mjs$/.exec(id)?.[1]
    return locale === undefined || locales.includes(locale) ? undefined : 'export default {}'
  },
}

/** React Aria puts two style elements into the page, which the policy of the service forbids; `styles/base.css` says what they would. */
const noStyleElements: Plugin = {
  name: 'no-style-elements',
  transform(code, id) {
    if (!/\/react-aria\/dist\/private\/.*\/(usePress|usePreventScroll)\.mjs$/.test(id)) return undefined
    if (!code.includes("createElement('style')")) this.error(`${id} has changed: see whether it still makes style elements`)
    return { code: code.replaceAll("createElement('style')", "createElement('template')"), map: null }
  },
}

/** Whichever file of styles comes first, the order of the layers is that of `styles/tokens.css`. */
const layersFirst: Plugin = {
  name: 'layers-first',
  enforce: 'post',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === 'asset' && file.fileName.endsWith('.css')) file.source = `@layer reset,base,ui,shell,pages;${file.source}`
  },
}

export default defineConfig({
  base: '/console/',
  plugins: [react(), ourLanguages, noStyleElements, layersFirst],
  // The client is taken from its source, which need not be built first.
  resolve: { conditions: ['repartee-source', ...defaultClientConditions] },
  define: { __REPARTEE_VERSION__: JSON.stringify(version) },
  build: {
    outDir: '../static/console',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    // All styles are a few kilobytes, and a page whose code is fetched anew would be without its own.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { '/v1': service, '/openapi.json': service, '/readyz': service } },
})
