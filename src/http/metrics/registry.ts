/** A metric in the text format of Prometheus (version 0.0.4). */
interface Metric {
  render(): string
}

/** More series than this come from a label with unlimited values: the rest is counted together. */
const MAX_SERIES = 10_000
const OTHER = 'other'
/** Separates the values of labels. No value contains it. */
const BETWEEN = '\u0000'

/** All metrics of the process. */
export class Registry {
  readonly #metrics: Metric[] = []

  /** `known`: the values of the label, if there is one and its values are a closed set. They start at 0. */
  counter(name: string, help: string, labels: string[] = [], known: readonly string[] = []): Counter {
    const counter = this.#add(new Counter(headOf(name, help, 'counter'), name, labels))
    for (const value of known) counter.add(0, value)
    return counter
  }

  histogram(name: string, help: string, buckets: number[], labels: string[] = []): Histogram {
    return this.#add(new Histogram(headOf(name, help, 'histogram'), name, labels, buckets))
  }

  /** Adds a gauge that is read at rendering. It is omitted if the value is undefined. */
  gauge(name: string, help: string, read: () => number | undefined): void {
    this.#read(name, help, 'gauge', () => [['', read()]])
  }

  /** Adds a counter that is read at rendering. Its value only grows. */
  total(name: string, help: string, read: () => number | undefined): void {
    this.#read(name, help, 'counter', () => [['', read()]])
  }

  /** Adds a constant metric. */
  info(name: string, help: string, about: Record<string, string>): void {
    const labels = labelsOf(Object.keys(about), Object.values(about).join(BETWEEN))
    this.#read(name, help, 'gauge', () => [[labels, 1]])
  }

  render(): string {
    return this.#metrics.map((metric) => metric.render()).join('')
  }

  #read(name: string, help: string, type: string, read: () => [string, number | undefined][]): void {
    const head = headOf(name, help, type)
    this.#metrics.push({
      render() {
        const lines = read().filter(([, value]) => value !== undefined)
        return lines.length === 0 ? '' : head + lines.map(([labels, value]) => `${name}${labels} ${value}\n`).join('')
      },
    })
  }

  #add<M extends Metric>(metric: M): M {
    this.#metrics.push(metric)
    return metric
  }
}

const headOf = (name: string, help: string, type: string): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`

/** A value that only grows. */
export class Counter implements Metric {
  readonly #head: string
  readonly #name: string
  readonly #labels: string[]
  readonly #values = new Map<string, number>()

  constructor(head: string, name: string, labels: string[]) {
    this.#head = head
    this.#name = name
    this.#labels = labels
    if (labels.length === 0) this.#values.set('', 0)
  }

  /** `values`: of the labels, in their order. */
  add(by: number, ...values: string[]): void {
    const key = keyOf(values, this.#values)
    this.#values.set(key, (this.#values.get(key) ?? 0) + by)
  }

  render(): string {
    return this.#head + [...this.#values].map(([key, n]) => `${this.#name}${labelsOf(this.#labels, key)} ${n}\n`).join('')
  }
}

interface Series {
  /** Counts by bucket. The last one is for values above all buckets. */
  counts: number[]
  sum: number
}

/** Counts of values by size. */
export class Histogram implements Metric {
  readonly #head: string
  readonly #name: string
  readonly #labels: string[]
  readonly #buckets: number[]
  readonly #series = new Map<string, Series>()

  constructor(head: string, name: string, labels: string[], buckets: number[]) {
    this.#head = head
    this.#name = name
    this.#labels = labels
    this.#buckets = buckets
    if (labels.length === 0) this.#open('')
  }

  observe(value: number, ...values: string[]): void {
    const key = keyOf(values, this.#series)
    const series = this.#series.get(key) ?? this.#open(key)
    let i = 0
    while (i < this.#buckets.length && value > this.#buckets[i]!) i++
    series.counts[i]!++
    series.sum += value
  }

  render(): string {
    return this.#head + [...this.#series].map(([key, series]) => this.#toLines(key, series)).join('')
  }

  #open(key: string): Series {
    const series = { counts: new Array(this.#buckets.length + 1).fill(0), sum: 0 }
    this.#series.set(key, series)
    return series
  }

  #toLines(key: string, { counts, sum }: Series): string {
    let count = 0
    const lines = counts.map((n, i) => {
      count += n
      const labels = labelsOf([...this.#labels, 'le'], key === '' ? this.#le(i) : key + BETWEEN + this.#le(i))
      return `${this.#name}_bucket${labels} ${count}\n`
    })
    const labels = labelsOf(this.#labels, key)
    return `${lines.join('')}${this.#name}_sum${labels} ${sum}\n${this.#name}_count${labels} ${count}\n`
  }

  #le(i: number): string {
    return i === this.#buckets.length ? '+Inf' : String(this.#buckets[i])
  }
}

function keyOf(values: string[], known: Map<string, unknown>): string {
  const key = values.length === 1 ? values[0]! : values.join(BETWEEN)
  return known.size < MAX_SERIES || known.has(key) ? key : values.map(() => OTHER).join(BETWEEN)
}

function labelsOf(names: string[], key: string): string {
  if (names.length === 0) return ''
  const values = key.split(BETWEEN)
  return `{${names.map((name, i) => `${name}="${escaped(values[i]!)}"`).join(',')}}`
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
