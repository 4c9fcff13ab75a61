import { randomInt } from 'node:crypto'
import fc from 'fast-check'

const { FUZZ_RUNS = '1', FUZZ_SEED = '20261120', FUZZ_PATH } = process.env
const times = Number(FUZZ_RUNS)
const seed = Number(FUZZ_SEED) || randomInt(1, 2 ** 31)

/** A failure is made smaller so many times: where it is one of time, each takes long. */
const MAX_SHRINKS = 40

/**
 * Tries what is made up at random against a property: `runs` times `FUZZ_RUNS`, from the seed `FUZZ_SEED` (0: another each time). A failure tells the
 * seed and a path; with `FUZZ_SEED` and `FUZZ_PATH` set to these, and the one test named, it is found again at once.
 */
export async function holds<T>(runs: number, made: fc.Arbitrary<T>, property: (value: T) => Promise<void>): Promise<void> {
  const replayed = FUZZ_PATH === undefined ? {} : { path: FUZZ_PATH }
  const once = fc.asyncProperty(fc.limitShrink(made, MAX_SHRINKS), property)
  await fc.assert(once, { seed, numRuns: Math.max(1, Math.round(runs * times)), ...replayed })
}

/** What was tried, and what came of it. A long run prints it at its end. */
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

/** One code point that any text may hold: of every kind, more often of those that are known to cause trouble. */
export const character: fc.Arbitrary<string> = fc
  .oneof(
    { arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }), weight: 4 },
    { arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), weight: 3 },
    fc.constantFrom(
      ...'"\'\\/<>&%_$`{}[]\n\r\t\b\u007f\u0085\u00a0\u00ad\u0130\u0301\u200d\u200b\u2028\u202e\ufeff\ufffd\uffff😀🇩👩',
    ),
  )
  .filter((c) => c !== '\0')

/** Well-formed Unicode without U+0000 that is not only white space. */
export const text = (maxLength = 60): fc.Arbitrary<string> =>
  fc.string({ unit: character, minLength: 1, maxLength }).filter((t) => /\S/.test(t))
