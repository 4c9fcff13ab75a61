// In JavaScript, because what is loaded before the folder is named is not kept: for one file Node would load its compiler of TypeScript at every start, which
// takes 18 MB.
import module from 'node:module'
import { fileURLToPath } from 'node:url'

// Older versions cannot even load the other files, so they must not be imported before this.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`Repartee needs Node 24 or newer. This is Node ${process.versions.node}.`)
  process.exit(1)
}

// Compiled code, and source with its types taken off, is kept between starts: it halves the time to the first answer. It lies with the packages, since in a
// folder for everybody's temporary files others could put code there; where that cannot be written, nothing is kept.
const { directory } = module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/repartee', import.meta.url)))
// Threads take it from there.
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory

// Conversations and keys are in what is written from here on: for the owner alone, whatever the folder allows.
process.umask(0o077)

const { run } = await import('./cli/run.ts')
process.exitCode = await run(process.argv.slice(2))
// All that was to be done is done. A connection that somebody holds open does not hold up the end.
setTimeout(() => process.exit(), 1_000).unref()
