import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'

/** `npm run dev` serves the console with changes shown at once, and hands the requests to a service that runs beside it. */
const service = 'http://127.0.0.1:8080'

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  // The client is taken from its source, which need not be built first.
  resolve: { conditions: ['repartee-source', ...defaultClientConditions] },
  build: { outDir: '../static/console', emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { '/v1': service, '/openapi.json': service } },
})
