import { DocumentError } from '../../../core/document-error.ts'
import type { Reading } from '../block.ts'
import { rowLines } from './rows.ts'

const MAX_ROWS = 1_000_000
const DELIMITERS = [',', ';', '\t', '|']

/** Reads CSV as rows with the names of their columns. Detects the delimiter, or takes it from a first line `sep=;`, which Excel writes. */
export async function readCsv(text: string): Promise<Reading> {
  const { default: papa } = await import('papaparse').catch((cause: unknown) => {
    throw new DocumentError('unsupported_type', 'CSV cannot be read here: the package papaparse is not installed.', { cause })
  })
  const said = /^\ufeff?sep=(.)\n/.exec(text)
  const { data } = papa.parse<string[]>(said === null ? text : text.slice(said[0].length), {
    ...(said === null ? { delimitersToGuess: DELIMITERS } : { delimiter: said[1]! }),
    skipEmptyLines: 'greedy',
    header: false,
    preview: MAX_ROWS + 1,
  })
  if (data.length > MAX_ROWS)
    throw new DocumentError('too_large', `The table has more than ${MAX_ROWS / 1e6} million rows. Send it in parts.`)
  const lines = rowLines(data)
  return { title: null, blocks: lines.length === 0 ? [] : [{ kind: 'table', level: 0, text: lines.join('\n') }] }
}
