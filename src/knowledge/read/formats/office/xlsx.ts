import { DocumentError } from '../../../../core/document-error.ts'
import type { Block, Reading } from '../../block.ts'
import { rowLines } from '../rows.ts'
import { attribute, OfficeFile } from './ooxml.ts'

/** The formats that a workbook identifies only by number (ECMA-376, 18.8.30). Dates use a form that is the same in all locales. */
const BUILT_IN: Record<number, string> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0 ;(#,##0)',
  38: '#,##0 ;(#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;(#,##0.00)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mmss.0',
  48: '##0.0E+0',
}
const MAX_CELLS = 1_000_000
const MAX_COLUMNS = 16_384
/** Widest gap between two cells of a row that is preserved. Wider gaps have no meaning. */
const MAX_GAP = 50
/** Longer formats are made to break programs. */
const MAX_FORMAT_CHARS = 256
/** Days between 1900 and 1904, the two date epochs of workbooks. */
const DAYS_TO_1904 = 1_462

type Format = (value: number, style: number) => string

/** Reads a workbook: each visible sheet with its name as heading, and its rows with the names of their columns. */
export async function readXlsx(content: Uint8Array): Promise<Reading> {
  const file = await OfficeFile.open(content)
  const main = await file.mainPart('xl/workbook.xml')
  const relations = await file.relations(main)
  const sheets: { name: string; id: string }[] = []
  let from1904 = false
  const found = await file.parse(main, {
    open: (name, attributes) => {
      if (name === 'workbookPr') from1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '')
      else if (name === 'sheet' && !/hidden/i.test(attributes['state'] ?? ''))
        sheets.push({ name: attributes['name'] ?? '', id: attribute(attributes, 'id') ?? '' })
    },
  })
  if (!found) throw new DocumentError('damaged', 'The workbook has no list of sheets.')
  const part = (type: string) => [...relations.values()].find((relation) => relation.type === type)?.target ?? ''
  const shared = await readSharedStrings(file, part('sharedStrings'))
  const format = await readFormats(file, part('styles'), from1904)
  const blocks: Block[] = []
  const count = { cells: 0 }
  const seen = new Set<string>()
  for (const [at, sheet] of sheets.entries()) {
    const target = relations.get(sheet.id)?.target ?? ''
    // Spreadsheet programs never list a sheet twice.
    if (seen.has(target)) continue
    seen.add(target)
    const rows = await readSheet(file, target, { shared, format, count })
    const lines = rowLines(rows)
    if (lines.length === 0) continue
    const page = at + 1
    const name = sheet.name.replace(/\s+/gu, ' ').trim()
    if (name !== '') blocks.push({ kind: 'heading', level: 2, text: `## ${name}`, page })
    blocks.push({ kind: 'table', level: 0, text: lines.join('\n'), page })
  }
  return { title: await file.title(), blocks }
}

async function readSharedStrings(file: OfficeFile, part: string): Promise<string[]> {
  const strings: string[] = []
  let open: string | undefined
  let inText = false
  // Depth in phonetic text (`rPh`), the pronunciation of a word.
  let phonetic = 0
  await file.parse(part, {
    open: (name) => {
      if (name === 'si') open = ''
      else if (name === 'rPh') phonetic++
      else if (name === 't') inText = true
    },
    close: (name) => {
      if (name === 'si') {
        strings.push(open ?? '')
        open = undefined
      } else if (name === 'rPh') phonetic--
      else if (name === 't') inText = false
    },
    text: (text) => {
      if (inText && phonetic === 0 && open !== undefined) open += text
    },
  })
  return strings
}

async function readFormats(file: OfficeFile, part: string, from1904: boolean): Promise<Format> {
  const { format, isDateFormat } = await import('numfmt').catch((cause: unknown) => {
    throw new DocumentError('unsupported_type', 'Spreadsheets cannot be read here: the package numfmt is not installed.', {
      cause,
    })
  })
  const own = new Map<number, string>()
  const styles: number[] = []
  let inCells = false
  await file.parse(part, {
    open: (name, attributes) => {
      if (name === 'numFmt') own.set(Number(attributes['numFmtId']), attributes['formatCode'] ?? '')
      else if (name === 'cellXfs') inCells = true
      else if (name === 'xf' && inCells) styles.push(Number(attributes['numFmtId']) || 0)
    },
    close: (name) => {
      if (name === 'cellXfs') inCells = false
    },
  })
  return (value, style) => {
    const id = styles[style] ?? 0
    const code = own.get(id) ?? BUILT_IN[id] ?? 'General'
    if (code.length > MAX_FORMAT_CHARS) return String(value)
    const days = from1904 && isDateFormat(code) ? value + DAYS_TO_1904 : value
    return String(format(code, days, { throws: false }))
  }
}

interface Workbook {
  shared: string[]
  format: Format
  count: { cells: number }
}

/** Returns the rows as they are shown. A cell with a distant column adds no empty cells before it. */
async function readSheet(file: OfficeFile, part: string, { shared, format, count }: Workbook): Promise<string[][]> {
  const rows: string[][] = []
  let row: [column: number, text: string][] = []
  let next = 0
  let cell: { column: number; type: string; style: number } | undefined
  let value = ''
  let inValue = false
  const shown = ({ type, style }: { type: string; style: number }): string => {
    if (type === 's') return shared[Number(value)] ?? ''
    if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
    if (type !== 'n') return value
    return Number.isFinite(Number(value)) ? format(Number(value), style) : value
  }
  await file.parse(part, {
    open: (name, attributes) => {
      if (name === 'row') {
        row = []
        next = 0
      } else if (name === 'c') {
        const column = columnOf(attributes['r']) ?? next
        next = column + 1
        cell = { column, type: attributes['t'] ?? 'n', style: Number(attributes['s']) || 0 }
        value = ''
      } else if (name === 'v' || (name === 't' && cell?.type === 'inlineStr')) inValue = true
    },
    close: (name) => {
      if (name === 'v' || name === 't') inValue = false
      else if (name === 'c' && cell !== undefined) {
        const text = value === '' ? '' : shown(cell).trim()
        if (text !== '') {
          if (++count.cells > MAX_CELLS)
            throw new DocumentError(
              'too_large',
              `The workbook has more than ${MAX_CELLS / 1e6} million filled cells. Send it in parts.`,
            )
          row.push([cell.column, text])
        }
        cell = undefined
      } else if (name === 'row' && row.length > 0) rows.push(spread(row))
    },
    text: (text) => {
      if (inValue) value += text
    },
  })
  return rows
}

function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0]
  if (letters === undefined) return undefined
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return Math.min(column, MAX_COLUMNS) - 1
}

/** Returns the cells in their columns. Gaps wider than `MAX_GAP` are dropped. */
function spread(row: readonly [column: number, text: string][]): string[] {
  const cells: string[] = []
  let last = -1
  for (const [column, text] of row) {
    const gap = column - last - 1
    if (gap > 0 && gap <= MAX_GAP) cells.push(...Array<string>(gap).fill(''))
    cells.push(text)
    last = column
  }
  return cells
}
