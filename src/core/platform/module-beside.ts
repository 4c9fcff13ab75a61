import { extname } from 'node:path'

/** A module of this program by its path without its ending, which is that of the asking module: `.ts` in the source, `.js` in the package. */
export const moduleBeside = (from: string, path: string): URL => new URL(path + extname(new URL(from).pathname), from)
