import { type Driven, drive, type Load } from './load.ts'
import { cpuMs } from './processes.ts'
import type { System } from './stage.ts'

export interface Cost {
  requests: number
  /** Processor time per request of all serving processes. */
  cpuMs: number
  perSecond: number
  p50: number
  p99: number
  marks: number[]
}

export type Loaded = Omit<Load, 'port'>

/** Turns per system in a round. Alternating spreads the machine's other load over all systems. */
const TURNS = 4
const WARM_SHARE = 0.3

/** Warms up the systems before measuring: compiles code and loads the store's pages into memory. */
export async function warm(works: Record<string, { system: Pick<System, 'program' | 'roots'>; load: Loaded }>): Promise<void> {
  for (const { system, load } of Object.values(works))
    await drive({ ...load, port: system.program.port, seconds: load.seconds * WARM_SHARE })
}

/**
 * Measures the cost of a request on several systems, which take turns in alternating order.
 * The load of a system is prepared once, and its seconds are divided among the turns.
 */
export async function measure<Name extends string>(
  works: Record<Name, { system: Pick<System, 'program' | 'roots'>; load: Loaded }>,
): Promise<Record<Name, Cost>> {
  const names = Object.keys(works) as Name[]
  const seen = Object.fromEntries(names.map((name) => [name, { cpu: 0, driven: [] as Driven[] }])) as Record<
    Name,
    { cpu: number; driven: Driven[] }
  >
  for (let turn = 0; turn < TURNS; turn++)
    for (const name of turn % 2 === 0 ? names : names.toReversed()) {
      const { system, load } = works[name]
      const before = cpuMs(system.roots)
      seen[name].driven.push(await drive({ ...load, port: system.program.port, seconds: load.seconds / TURNS }))
      seen[name].cpu += cpuMs(system.roots) - before
    }
  return Object.fromEntries(names.map((name) => [name, toCost(seen[name])])) as Record<Name, Cost>
}

function toCost({ cpu, driven }: { cpu: number; driven: Driven[] }): Cost {
  const times = driven.flatMap((part) => part.times)
  const seconds = driven.reduce((sum, part) => sum + part.seconds, 0)
  return {
    requests: times.length,
    cpuMs: cpu / times.length,
    perSecond: times.length / seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    marks: driven.flatMap((part) => part.marks),
  }
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => {
  const sorted = Float64Array.from(values).sort()
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Returns a function that cycles through a list. */
export function inTurns<T>(list: readonly T[]): () => T {
  let next = 0
  return () => list[next++ % list.length]!
}

export async function inBatches<T>(count: number, atOnce: number, make: (i: number) => Promise<T>): Promise<T[]> {
  const all: T[] = []
  for (let i = 0; i < count; i += atOnce)
    all.push(...(await Promise.all(Array.from({ length: Math.min(atOnce, count - i) }, (_, n) => make(i + n)))))
  return all
}
