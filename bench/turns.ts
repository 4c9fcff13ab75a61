import { type Driven, drive, type Load } from './load.ts'
import { cpuMs } from './processes.ts'
import type { System } from './stage.ts'

export interface Cost {
  requests: number
  /** Processor time of everything that serves, for one request. */
  cpuMs: number
  perSecond: number
  p50: number
  p99: number
  marks: number[]
}

export type Loaded = Omit<Load, 'port'>

/** So often in a round it is each one's turn: what else the machine does befalls all of them. */
const TURNS = 4
const WARM_SHARE = 0.3

/** Before anything counts: code is compiled, and pages of the store are in memory from here on. */
export async function warm(works: Record<string, { system: Pick<System, 'program' | 'roots'>; load: Loaded }>): Promise<void> {
  for (const { system, load } of Object.values(works))
    await drive({ ...load, port: system.program.port, seconds: load.seconds * WARM_SHARE })
}

/**
 * What a request costs each of several systems, which take turns, in an order that is turned round each time. The work of a system is made
 * once; its seconds are shared out over the turns.
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

/** An endless walk over a list. */
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
