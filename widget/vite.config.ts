import { defaultClientConditions, defineConfig } from 'vite'

/** One file, for one `<script>` tag. */
export default defineConfig({
  // The client is taken from its source, which need not be built first.
  resolve: { conditions: ['repartee-source', ...defaultClientConditions] },
  build: {
    outDir: '../static/widget',
    emptyOutDir: true,
    lib: { entry: 'src/main.ts', formats: ['iife'], name: 'Repartee', fileName: () => 'widget.js' },
  },
})
