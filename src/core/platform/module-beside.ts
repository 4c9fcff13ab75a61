import { extname } from 'node:path'

/** Returns the URL of a module of this program. `path` has no extension; it is that of `from`: `.ts` in the source, `.js` in the package. */
export const moduleBeside = (from: string, path: string): URL => new URL(path + extname(new URL(from).pathname), from)
