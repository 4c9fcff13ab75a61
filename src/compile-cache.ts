import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Compiled code, and source with its types taken off, is kept between starts: it halves the time to the first answer, and without it every thread loads a
 * compiler of 20 MB. It lies with the packages, since in a folder for everybody's temporary files others could put code there; where that cannot be
 * written, nothing is kept.
 */
export function keepCompiled(): void {
  const { directory } = enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/repartee', import.meta.url)))
  // Threads take it from there.
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory
}
