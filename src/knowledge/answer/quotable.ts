import type { Span } from '../../text/sentences.ts'
import type { AnswerType } from './answer-types.ts'
import { isNumbered, lineStart, type Unit } from './units.ts'

// What is quoted along with a unit stays below this: more is for the reader to open.
const MAX_CHARS = 900

/**
 * The stretch to quote so that a unit makes sense: a line that ends in a colon with the list, table or code after it; a row with its table, unless
 * it names its columns itself;
 * for a question how to do something, a step with its steps, and the code that follows. A sentence stays as it is.
 */
export function quotable(text: string, units: readonly Unit[], at: number, type: AnswerType | undefined): Span {
  const unit = units[at]!
  const isStep = (other: Unit | undefined): boolean => other?.kind === 'item' || other?.kind === 'code'
  let first = at
  let last = at
  const isTable = unit.kind === 'row' && !namesItsColumns(text.slice(lineStart(text, unit), unit.end))
  if (isTable || unit.kind === 'code' || (type === 'how' && unit.kind === 'item' && isNumbered(text, unit))) {
    const belongs = (other: Unit | undefined): boolean =>
      unit.kind === 'row' ? other?.kind === 'row' : unit.kind === 'item' && isStep(other)
    while (belongs(units[first - 1]) && size(text, units, first - 1, last) <= MAX_CHARS) first--
    while (belongs(units[last + 1]) && size(text, units, first, last + 1) <= MAX_CHARS) last++
    if (first > 0 && leads(text, units[first - 1]!)) first--
  } else if (leads(text, unit)) {
    const kind = units[at + 1]?.kind
    if (kind === 'item' || kind === 'code' || kind === 'row') {
      last++
      while (
        (units[last + 1]?.kind === kind || (kind === 'item' && isStep(units[last + 1]))) &&
        size(text, units, first, last + 1) <= MAX_CHARS
      )
        last++
    }
  } else if (type === 'how' && units[at + 1]?.kind === 'code' && size(text, units, at, at + 1) <= MAX_CHARS) last++
  return { start: last > first || unit.kind === 'row' ? lineStart(text, units[first]!) : unit.start, end: units[last]!.end }
}

const namesItsColumns = (row: string): boolean => row.split(' | ').every((cell) => /^[^:]+: /.test(cell))
const leads = (text: string, unit: Unit): boolean =>
  unit.kind !== 'code' && /[:：]\W{0,3}$/u.test(text.slice(Math.max(unit.start, unit.end - 5), unit.end))
const size = (text: string, units: readonly Unit[], first: number, last: number): number =>
  units[last]!.end - lineStart(text, units[first]!)
