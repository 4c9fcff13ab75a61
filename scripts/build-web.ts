// Builds the console, the widget and the documentation into `static/`. Skips each part whose sources have not changed.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once as event } from 'node:events'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('../', import.meta.url))
const out = join(root, 'static')

const filesOf = (...patterns: string[]): string[] =>
  patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()

/** Does the work if its sources or this script have changed since the last build. */
async function once(name: string, sources: string[], folders: string[], work: () => void | Promise<void>): Promise<void> {
  const hash = createHash('sha256')
  for (const file of [import.meta.filename, ...filesOf(...sources)])
    hash.update(`${relative(root, file)}\0`).update(readFileSync(file))
  const built = hash.digest('hex')
  const stamp = join(out, `.built-${name}`)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === built) return
  console.log(`Building the ${name} (once) …`)
  await work()
  for (const file of filesOf(...folders.map((folder) => `static/${folder}/**/*.{js,css,html,svg,json,md,txt}`)))
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
  writeFileSync(stamp, built)
}

const ofConsole = [
  ...['client/src/**/*', '{console,widget}/{src,public}/**/*', '{console,widget}/*.*', 'package-lock.json'],
  // The console uses the service's limits for rendering.
  'src/render/bounded.ts',
]
async function bundle(workspace: string): Promise<void> {
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const run = spawn(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: join(root, workspace),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [status] = await event(run, 'close')
  if (status !== 0) process.exit(status ?? 1)
}

await Promise.all([
  once('console', ofConsole, ['console', 'widget'], async () => {
    await Promise.all(['console', 'widget'].map(bundle))
  }),
  once('documentation', ['docs/**/*', '*.md', 'scripts/site/**/*'], ['docs'], async () => {
    const { buildSite } = await import('./site/build.ts')
    buildSite(join(out, 'docs'))
  }),
])
