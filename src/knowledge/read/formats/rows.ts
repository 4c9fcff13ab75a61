/** Returns the rows of a table as self-contained lines: each cell with the name of its column. */
export function rowLines(rows: readonly (readonly string[])[]): string[] {
  const [head, ...body] = rows
  if (head === undefined) return []
  if (body.length === 0 || !isHead(head, body[0]!)) return rows.map(plainLine).filter((line) => line !== '')
  const names = head.map(oneLine)
  return body.map((row) => namedLine(names, row)).filter((line) => line !== '')
}

const oneLine = (cell: string): string => cell.replace(/\s+/gu, ' ').trim()
const plainLine = (row: readonly string[]): string =>
  row
    .map(oneLine)
    .filter((cell) => cell !== '')
    .join(' | ')

const namedLine = (names: readonly string[], row: readonly string[]): string =>
  row
    .map((cell, at) => {
      const value = oneLine(cell)
      const name = names[at] ?? ''
      return value === '' || name === '' ? value : `${name}: ${value}`
    })
    .filter((cell) => cell !== '')
    .join(' | ')

const isNumber = (cell: string): boolean => /^[-+]?[\d.,\s]*\d[%€$£]?$/.test(cell.trim())

/** Returns true if the first row names the columns: only unique words, no numbers. */
function isHead(head: readonly string[], next: readonly string[]): boolean {
  const names = head.map(oneLine).filter((name) => name !== '')
  const width = Math.max(head.length, next.length)
  return (
    names.length > 1 &&
    names.length >= width / 2 &&
    new Set(names).size === names.length &&
    names.every((name) => !isNumber(name) && name.length <= 80)
  )
}
