import { randomInt } from 'node:crypto'
import fc from 'fast-check'

const { FUZZ_RUNS = '1', FUZZ_SEED = '20261120', FUZZ_PATH } = process.env
const times = Number(FUZZ_RUNS)
const seed = Number(FUZZ_SEED) || randomInt(1, 2 ** 31)

/** Limit for shrinking a failure. If the failure is a timeout, each step takes long. */
const MAX_SHRINKS = 40

/**
 * Tests a property with random values: `runs` times `FUZZ_RUNS`, with the seed `FUZZ_SEED` (0: a random seed). A failure prints
 * its seed and path. To reproduce it, set `FUZZ_SEED` and `FUZZ_PATH` to these and run only that test.
 */
export async function holds<T>(runs: number, made: fc.Arbitrary<T>, property: (value: T) => Promise<void>): Promise<void> {
  const replayed = FUZZ_PATH === undefined ? {} : { path: FUZZ_PATH }
  const once = fc.asyncProperty(fc.limitShrink(made, MAX_SHRINKS), property)
  await fc.assert(once, { seed, numRuns: Math.max(1, Math.round(runs * times)), ...replayed })
}

/** Counts of inputs and results. A long run prints them at its end. */
export class Tally {
  readonly #counts = new Map<string, number>()

  add(...names: string[]): void {
    for (const name of names) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  print(): void {
    if (times === 1) return
    console.log(`seed ${seed}, runs times ${times}`)
    for (const [name, count] of [...this.#counts].sort()) console.log(`${String(count).padStart(8)}  ${name}`)
  }
}

/** One code point of any kind that texts allow, with more of the kinds that often cause trouble. */
export const character: fc.Arbitrary<string> = fc
  .oneof(
    { arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }), weight: 4 },
    { arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), weight: 3 },
    fc.constantFrom(
      ...'"\'\\/<>&%_$`{}[]\n\r\t\b\u007f\u0085\u00a0\u00ad\u0130\u0301\u200d\u200b\u2028\u202e\ufeff\ufffd\uffff😀🇩👩',
    ),
  )
  .filter((c) => c !== '\0')

/** Well-formed Unicode without U+0000 and not only white space. */
export const text = (maxLength = 60): fc.Arbitrary<string> =>
  fc.string({ unit: character, minLength: 1, maxLength }).filter((t) => /\S/.test(t))
