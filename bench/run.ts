// Measures the service: cost of requests relative to the floor, growth with the amount of stored data, and footprint.
//   npm run bench -- [--quick | --full] [--only NAME,…] [--engines sqlite,postgres] [--rounds 3] [--seconds 2] [--out FILE] [--docs]
// NAME is a scenario or a figure, see README.md.
import { parseArgs } from 'node:util'
import type { Figure, Options, Scenario } from './figures.ts'
import { isPinned, pin } from './processes.ts'
import { machine, merge, readResults, tableOf, writeResults } from './report.ts'
import { growth } from './scenarios/growth.ts'
import { knowledge } from './scenarios/knowledge.ts'
import { requests } from './scenarios/requests.ts'
import { search } from './scenarios/search.ts'
import { streams } from './scenarios/streams.ts'
import { weight } from './scenarios/weight.ts'
import { here } from './stage.ts'
import { writeDocs } from './write-docs.ts'

const SCENARIOS: Scenario[] = [requests, knowledge, streams, growth, search, weight]
const names = SCENARIOS.flatMap(({ name, figures }) => [name, ...figures])

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    only: { type: 'string' },
    engines: { type: 'string', default: 'sqlite,postgres' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    out: { type: 'string' },
    docs: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help)
  console.log(
    `npm run bench -- [--quick | --full] [--only NAME,…] [--engines sqlite,postgres] [--rounds N] [--seconds N] [--out FILE] [--docs]\nNames: ${names.join(', ')}`,
  )
else await bench()

async function bench(): Promise<void> {
  const only = values.only?.split(',')
  const unknown = only?.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there is none of that name; the names are ${names.join(', ')}`)
  const options: Omit<Options, 'wants'> = {
    engines: values.engines.split(',') as Options['engines'],
    rounds: Number(values.rounds ?? (values.quick ? 1 : 3)),
    seconds: Number(values.seconds ?? (values.quick ? 0.4 : 2)),
    size: values.quick ? 'quick' : values.full ? 'full' : 'usual',
    tell: (text) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`),
  }
  pin(process.pid, 'driver')
  console.log(
    `${machine()}; ${isPinned ? 'the service on one core, what measures it on another' : 'no process is bound to a core'}; Node ${process.version}`,
  )
  // Quick results have their own file: they are compared only with each other and never published.
  const path = values.out ?? here(values.quick ? 'results/quick.json' : 'results/latest.json')
  const before = readResults(path)
  const figures: Figure[] = []
  for (const { name, figures: ids, run } of options.rounds > 0 ? SCENARIOS : []) {
    const isWhole = only === undefined || only.includes(name)
    if (!isWhole && !ids.some((id) => only.includes(id))) continue
    try {
      figures.push(...(await run({ ...options, wants: (id) => isWhole || only.includes(id) })))
      writeResults(path, merge(before, figures))
    } catch (error) {
      // The other scenarios still run.
      console.error(error)
      process.exitCode = 1
    }
  }
  const inOrder = Object.values(merge(undefined, figures).figures)
  console.log(`${tableOf(inOrder, before)}\n\nWritten: ${path}`)
  if (values.docs) writeDocs(path)
}
