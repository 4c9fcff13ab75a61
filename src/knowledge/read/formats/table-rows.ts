interface Row {
  cells: string[]
  isHeader: boolean
}

/** Wider tables are used for layout. */
const MOST_COLUMNS = 30

/** Collects the rows of a table. The result is a Markdown table if the columns have names, or else lines of cells. */
export class TableRows {
  #rows: Row[] = []
  #cells: string[] = []
  #isHeader = true
  #isInHead = false

  /** While true, all rows name columns. */
  set inHead(isInHead: boolean) {
    this.#isInHead = isInHead
  }

  cell(text: string, isHeader: boolean): void {
    this.#cells.push(text)
    if (!isHeader && text !== '') this.#isHeader = false
  }

  endRow(): void {
    const cells = this.#cells.slice(0, this.#cells.findLastIndex((cell) => cell !== '') + 1)
    if (cells.length > 0) this.#rows.push({ cells, isHeader: this.#isInHead || this.#isHeader })
    this.#cells = []
    this.#isHeader = true
  }

  /** Returns the lines and removes the rows. */
  take(): string[] {
    this.endRow()
    const rows = this.#rows
    this.#rows = []
    const columns = Math.max(0, ...rows.slice(0, 1_000).map(({ cells }) => cells.length))
    const isTable =
      rows.length > 1 &&
      rows[0]!.isHeader &&
      columns > 1 &&
      columns <= MOST_COLUMNS &&
      rows.every(({ cells }) => cells.length <= columns)
    if (!isTable) return rows.map(({ cells }) => cells.filter((cell) => cell !== '').join(' | '))
    const line = (cells: readonly string[]): string =>
      `| ${Array.from({ length: columns }, (_, at) => (cells[at] ?? '').replaceAll('|', '\\|')).join(' | ')} |`
    return [line(rows[0]!.cells), `|${' --- |'.repeat(columns)}`, ...rows.slice(1).map(({ cells }) => line(cells))]
  }
}
