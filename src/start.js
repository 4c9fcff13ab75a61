// JavaScript, because files loaded before the compile cache is enabled are not cached: Node would load its TypeScript compiler at every start (18 MB).
import module from 'node:module'
import { fileURLToPath } from 'node:url'

// Older Node versions cannot load the other files, so nothing may be imported before this check.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`Repartee needs Node 24 or newer. This is Node ${process.versions.node}.`)
  process.exit(1)
}

// Caches compiled code and stripped sources, which halves the time to the first answer. The cache is next to the packages, because in a shared temporary
// folder others could insert code. If that folder is not writable, nothing is cached.
const { directory } = module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/repartee', import.meta.url)))
// Threads read the folder from this variable.
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory

// Files written from here on contain conversations and keys. Only the owner may read them, even if the folder allows more.
process.umask(0o077)

const { run } = await import('./cli/run.ts')
process.exitCode = await run(process.argv.slice(2))
// All work is done. A connection that a client leaves open must not delay the exit.
setTimeout(() => process.exit(), 1_000).unref()
