import { defineConfig } from 'vite'

/** One file, for one `<script>` tag. */
export default defineConfig({
  build: {
    outDir: '../static/widget',
    emptyOutDir: true,
    lib: { entry: 'src/main.ts', formats: ['iife'], name: 'Repartee', fileName: () => 'widget.js' },
  },
})
