// Builds what browsers are given, the console and the widget, into `static/`, unless that was done with the source as it is.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('../', import.meta.url))
const out = join(root, 'static')
const stamp = join(out, '.built')

const filesOf = (...patterns: string[]): string[] =>
  patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()

const hash = createHash('sha256')
const sources = filesOf('client/src/**/*', '{console,widget}/{src,public}/**/*', '{console,widget}/*.*', 'package-lock.json')
for (const file of [import.meta.filename, ...sources]) hash.update(`${relative(root, file)}\0`).update(readFileSync(file))
const built = hash.digest('hex')

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== built) {
  console.log('Building the console (once) …')
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  for (const workspace of ['console', 'widget']) {
    const run = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
      cwd: join(root, workspace),
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    if (run.status !== 0) process.exit(run.status ?? 1)
  }
  for (const file of filesOf('static/**/*.{js,css,html,svg,json}'))
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
  writeFileSync(stamp, built)
}
