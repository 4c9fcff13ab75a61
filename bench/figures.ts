import { type Goal, goals } from './goals.ts'
import type { Engine } from './stage.ts'
import { type Cost, median } from './turns.ts'

export interface Figure {
  /** A key of `goals`. */
  id: string
  engine?: Engine
  value: number
  /** The value for comparison: the floor's, or that of the smallest size. */
  base?: number
  ratio?: number
  /** Fills the blank in the text of the goal. */
  to?: string
  /** Values by size, for the plots. */
  points?: [size: number, value: number][]
  more?: Record<string, number>
}

export interface Options {
  engines: Engine[]
  rounds: number
  /** Seconds for each measured item in each round. */
  seconds: number
  size: 'quick' | 'usual' | 'full'
  wants(id: string): boolean
  tell(text: string): void
}

export interface Scenario {
  name: string
  figures: string[]
  run(options: Options): Promise<Figure[]>
}

export const keyOf = ({ id, engine }: Pick<Figure, 'id' | 'engine'>): string => (engine === undefined ? id : `${engine}/${id}`)

/** Combines rounds into one figure: medians of times, and the median of the ratios within each round. */
export function compared(id: string, engine: Engine, rounds: { ours: Cost; base: Cost }[]): Figure {
  const all = (pick: (cost: Cost) => number, side: 'ours' | 'base') => median(rounds.map((round) => pick(round[side])))
  return {
    id,
    engine,
    value: all((cost) => cost.cpuMs, 'ours'),
    base: all((cost) => cost.cpuMs, 'base'),
    ratio: median(rounds.map(({ ours, base }) => ours.cpuMs / base.cpuMs)),
    more: {
      p50: all(({ p50 }) => p50, 'ours'),
      p99: all(({ p99 }) => p99, 'ours'),
      perSecond: all(({ perSecond }) => perSecond, 'ours'),
      baseP50: all(({ p50 }) => p50, 'base'),
      baseP99: all(({ p99 }) => p99, 'base'),
      basePerSecond: all(({ perSecond }) => perSecond, 'base'),
    },
  }
}

export const whatOf = ({ id, to }: Figure): string => goals[id]!.what.replace('{to}', to ?? '')

export function boundOf({ id, engine }: Pick<Figure, 'id' | 'engine'>): { most?: number; least?: number } {
  const { most, least, mostOnPostgres } = goals[id]!
  if (engine === 'postgres' && mostOnPostgres !== undefined) return mostOnPostgres === null ? {} : { most: mostOnPostgres }
  return { ...(most === undefined ? {} : { most }), ...(least === undefined ? {} : { least }) }
}

/** Returns undefined if the figure has no goal. */
export function isMet(figure: Figure): boolean | undefined {
  const { most, least } = boundOf(figure)
  const judged = (goals[figure.id] as Goal).by === 'ratio' ? figure.ratio : figure.value
  if (judged === undefined || (most === undefined && least === undefined)) return undefined
  return judged <= (most ?? Number.POSITIVE_INFINITY) && judged >= (least ?? Number.NEGATIVE_INFINITY)
}
