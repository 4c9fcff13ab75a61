// Finds regular expressions in the service's packages that take superlinear time. Takes some minutes. Exits with 1 if one is not in the
// list below. test/patterns.test.ts measures the patterns of the source.
//   PATTERN_CHARS=100000 node bench/patterns.ts
import { readFileSync } from 'node:fs'
import { isSuperlinear, patternsIn, pumped } from '../test/support/patterns.ts'

/** Patterns that external text never reaches, by location, with the reason. */
const OUT_OF_REACH: Record<string, string> = {
  'fastify/scripts/': 'a tool of its authors',
  'fast-json-stringify/index.js': 'runs on our schemas, at the start',
  'parse-srcset/': 'the attribute is not on the list of the sanitiser',
  '@ai-sdk/gateway/': 'is not used',
  '@ai-sdk/mcp/': 'is not used',
  '@ai-sdk/provider-utils/': 'runs on addresses of files to download, which are not used',
  'pino/browser.js': 'runs in browsers',
  'argparse/': 'the command line of the renderer',
  'dayjs/': 'dates, which the sanitiser is not asked to check',
  'postcss/': 'styles, which the sanitiser is not asked to parse',
  'source-map-js/': 'the same',
  'postgres-date/': 'dates that the database writes',
  'postgres-interval/': 'the same',
  'zod/': 'names in schemas',
}
/** These packages read documents in the process that has limits on time and memory. */
const READERS = /^(?:pdfjs-dist|papaparse|numfmt|yauzl|jschardet)$/

interface Locked {
  dev?: boolean
  optional?: boolean
  link?: boolean
}

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Locked>
}
const packages = Object.entries(lock.packages)
  .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !path.includes('/node_modules/', 13) && !dev && !link)
  .map(([path]) => path.slice('node_modules/'.length))
  .filter((name) => !READERS.test(name))

/** Files of a package that do not run in the service. */
const OTHER = /\/(?:tests?|bench|benchmarks?|examples?|docs|integration|umd)\/|\.test\.|\.min\./

let all = 0
let found = 0
for (const name of packages) {
  const patterns = patternsIn(`node_modules/${name}/**/*.{js,cjs,mjs}`).filter(({ file }) => !OTHER.test(file))
  all += patterns.length
  for (const { file, regExp } of patterns) {
    const pump = [...pumped(regExp)].find((one) => isSuperlinear(regExp, one))
    if (pump === undefined) continue
    const why = Object.entries(OUT_OF_REACH).find(([place]) => file.includes(place))?.[1]
    if (why === undefined) found++
    console.log(`${file}: ${regExp} on ${JSON.stringify(pump(8))}${why === undefined ? '' : ` (${why})`}`)
  }
}
console.log(`${all} patterns of ${packages.length} packages; ${found} that a text could reach`)
process.exitCode = found === 0 ? 0 : 1
