import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

/** Floors from the ground up. An import may go down, or stay within its own folder. Files directly under `src` are the roof. */
const FLOORS = [
  ['core'],
  ['api', 'text', 'render', 'net', 'traces'],
  ['store', 'models'],
  ['knowledge'],
  ['access', 'agents', 'events'],
  ['retrieval'],
  ['reply'],
  ['turns'],
  ['sessions', 'config'],
  ['http'],
  ['cli'],
]
const floorOf = new Map(FLOORS.flatMap((folders, floor) => folders.map((folder) => [folder, floor] as const)))

/** The only folders in which a third-party package may be imported. */
const FENCES: Record<string, string[]> = {
  '@ai-sdk/anthropic': ['models'],
  '@ai-sdk/google': ['models'],
  '@ai-sdk/openai': ['models'],
  '@fastify/busboy': ['http'],
  '@orama/stemmers': ['text'],
  ajv: ['http'],
  'eventsource-parser': ['models'],
  'fast-json-stringify': ['http'],
  'fast-querystring': ['http'],
  'fastest-levenshtein': ['http', 'cli'],
  fastify: ['http', '.'],
  htmlparser2: ['knowledge'],
  'ipaddr.js': ['net'],
  jschardet: ['knowledge'],
  'markdown-it': ['render', 'knowledge'],
  'node:sqlite': ['store'],
  numfmt: ['knowledge'],
  papaparse: ['knowledge'],
  'pdfjs-dist': ['knowledge'],
  pg: ['store'],
  pino: ['.'],
  'robots-parser': ['knowledge'],
  'sanitize-html': ['render'],
  yauzl: ['knowledge'],
}

const sources = globSync('src/**/*.ts')
const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').length - 1

/** Every way in which a file names another: imports, `require`, and the program of a worker or process (`moduleBeside`). */
const NAMES_A_FILE = /(?:\bfrom\s+|^import\s+|\bimport\(|\brequire\(|\bmoduleBeside\(import\.meta\.url, )'([^'\n]+)'/gm
const importsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(NAMES_A_FILE)].map(([found, target]) => ({
    file,
    target: found.startsWith('moduleBeside') ? `${target}.ts` : target!,
    isLazy: !/^(from|import\s)/.test(found),
  }))
const imports = sources.flatMap(importsOf)
const folderOf = (file: string) => (file.split('/').length > 2 ? file.split('/')[1]! : '.')

test('imports point down, or stay within their folder', () => {
  const upward = imports
    .filter(({ target }) => target.startsWith('.'))
    .map(({ file, target }) => ({ file, target, from: folderOf(file), to: folderOf(normalize(join(dirname(file), target))) }))
    .filter(({ from, to }) => from !== '.' && from !== to && !(floorOf.get(to)! < floorOf.get(from)!))
    // The side door starts the service, so it may look at the wiring.
    .filter(({ from, to }) => !(from === 'cli' && to === '.'))
  assert.deepEqual(upward, [])
})

// Except what is loaded when it is used, as commands are.
test('no file imports itself by way of others, not even for a type', () => {
  for (const folder of ['src', 'client/src', 'widget/src', 'console/src']) {
    const targets = new Map<string, string[]>()
    const all = globSync(`${folder}/**/*.{ts,tsx}`).flatMap(importsOf)
    for (const { file, target } of all.filter(({ target, isLazy }) => target.startsWith('.') && !isLazy))
      targets.set(file, [...(targets.get(file) ?? []), normalize(join(dirname(file), target))])
    // A file whose imports lead to no circle is taken away, until only circles and what imports them are there.
    let before = -1
    while (targets.size !== before) {
      before = targets.size
      for (const [file, all] of targets) if (!all.some((target) => targets.has(target))) targets.delete(file)
    }
    assert.deepEqual([...targets.keys()], [])
  }
})

test('each third-party package is imported in its own folders only', () => {
  const outside = imports
    .filter(({ target }) => target in FENCES || !/^(\.|node:)/.test(target))
    .map(({ file, target }) => ({
      file,
      name: FENCES[target]
        ? target
        : target
            .split('/')
            .slice(0, target.startsWith('@') ? 2 : 1)
            .join('/'),
    }))
    .filter(({ file, name }) => !FENCES[name]?.includes(folderOf(file)))
  assert.deepEqual(outside, [])
})

test('no folder has more than 20 files, and no file more than 400 lines', () => {
  const folders = Map.groupBy(sources, (file) => dirname(file))
  const full = [...folders].filter(([, files]) => files.length > 20).map(([folder, files]) => `${folder}: ${files.length} files`)
  const long = sources.filter((file) => linesOf(file) > 400).map((file) => `${file}: ${linesOf(file)} lines`)
  assert.deepEqual([...full, ...long], [])
})

test('the name of an exported type is declared once', () => {
  const declared = sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => ({ file, name: name! })),
  )
  const twice = [...Map.groupBy(declared, ({ name }) => name)].filter(([, all]) => all.length > 1)
  assert.deepEqual(twice, [])
})

test('JavaScript is only what starts the TypeScript', () => {
  assert.deepEqual(globSync('src/**/*.{js,mjs,cjs}'), ['src/start.js'])
})

test('the files directly under src are the wiring', () => {
  const names = globSync('src/*.ts').map((file) => file.slice('src/'.length))
  assert.deepEqual(names.sort(), ['app.ts', 'log.ts', 'main.ts', 'sample.ts', 'upkeep.ts'])
})

test('only config.ts, and the commands that show or hand on settings, read the environment', () => {
  const readers = globSync('src/**/*.ts').filter((file) => readFileSync(file, 'utf8').includes('process.env'))
  assert.deepEqual(readers, ['src/cli/run.ts'])
})

test('statements bind values in order: SQLite of the oldest Node 24 knows no numbered parameters', () => {
  const numbered = globSync('src/store/**/*.ts').filter((file) => /'[^'\n]*\s\?\d|`[^`]*\s\?\d/.test(readFileSync(file, 'utf8')))
  assert.deepEqual(numbered, [])
})

test('texts are normalised by `normalize` of text/fold.ts alone: the method takes the square of a long run of marks', () => {
  const others = globSync('src/**/*.ts').filter((file) => /(?<!\.\.)\.normalize\(/.test(readFileSync(file, 'utf8')))
  assert.deepEqual(others, ['src/text/fold.ts'])
})
