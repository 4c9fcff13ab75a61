import './table.css'
import type { ReactNode } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { Link as AriaLink } from 'react-aria-components/Link'
import { Icon } from './icon.tsx'
import { useUiTexts } from './texts.ts'
import { Checkbox } from './toggle.tsx'

export interface Column<R> {
  id: string
  /** The column heading; on a phone, the label of the value. */
  label: string
  cell(row: R): ReactNode
  /** Aligned to the end of the column. */
  isNumber?: boolean
  /** CSS length; the first column takes the remaining width. */
  width?: string
  /** Hidden on a phone. */
  isMinor?: boolean
  isSortable?: boolean
}

export interface Sort {
  column: string
  isDescending: boolean
}

export interface TableProps<R> {
  /** Accessible name; not visible. */
  label: string
  columns: readonly Column<R>[]
  rows: readonly R[]
  idOf(row: R): string
  /** Name of a row in the labels of its controls. */
  nameOf(row: R): string
  /** Link target of a row: the first cell becomes a link, and a press anywhere on the row follows it. */
  hrefOf?(row: R): string
  /** Further actions of a row, at its end. */
  actionsOf?(row: R): ReactNode
  sort?: Sort
  onSort?(sort: Sort): void
  selected?: ReadonlySet<string>
  onSelect?(selected: Set<string>): void
  empty?: ReactNode
}

/** An accessible table; on a phone each row is a card. Roles are explicit, because browsers drop them from elements that are not laid out as a table. */
export function Table<R>(props: TableProps<R>) {
  const { label, columns, rows, idOf, actionsOf, selected, empty } = props
  const texts = useUiTexts()
  if (rows.length === 0 && empty !== undefined) return empty
  return (
    <table aria-label={label} className="table">
      <thead>
        <tr>
          {selected !== undefined && (
            <th scope="col" className="table-select">
              <SelectAll {...props} />
            </th>
          )}
          {columns.map((column) => (
            <ColumnHead key={column.id} column={column} {...props} />
          ))}
          {actionsOf !== undefined && (
            <th scope="col" className="table-actions">
              <span className="hidden-visually">{texts.actions}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <TableRow key={idOf(row)} row={row} {...props} />
        ))}
      </tbody>
    </table>
  )
}

function ColumnHead<R>({ column, sort, onSort }: TableProps<R> & { column: Column<R> }) {
  const texts = useUiTexts()
  const isSorted = sort?.column === column.id
  const order = !isSorted ? 'none' : sort.isDescending ? 'descending' : 'ascending'
  return (
    <th
      scope="col"
      className={`${column.isNumber ? 'table-number' : ''} ${column.isMinor ? 'table-minor' : ''}`}
      style={column.width === undefined ? {} : { inlineSize: column.width }}
      {...(column.isSortable && { 'aria-sort': order })}
    >
      {column.isSortable && onSort !== undefined ? (
        <AriaButton
          className="table-sort"
          aria-label={texts.sortBy(column.label)}
          onPress={() => onSort({ column: column.id, isDescending: isSorted ? !sort.isDescending : column.isNumber === true })}
        >
          {column.label}
          <Icon name={!isSorted ? 'upDown' : sort.isDescending ? 'down' : 'up'} size={12} />
        </AriaButton>
      ) : (
        column.label
      )}
    </th>
  )
}

function TableRow<R>({ row, columns, idOf, nameOf, hrefOf, actionsOf, selected, onSelect }: TableProps<R> & { row: R }) {
  const texts = useUiTexts()
  const id = idOf(row)
  const select = (isSelected: boolean) => {
    const next = new Set(selected)
    if (isSelected) next.add(id)
    else next.delete(id)
    onSelect?.(next)
  }
  return (
    <tr className={`${hrefOf === undefined ? '' : 'table-leads'} ${selected?.has(id) ? 'table-selected' : ''}`}>
      {selected !== undefined && (
        <td className="table-select">
          <Checkbox label={texts.selectRow(nameOf(row))} hidesLabel isSelected={selected.has(id)} onChange={select} />
        </td>
      )}
      {columns.map((column, place) => (
        <td
          key={column.id}
          role={place === 0 ? 'rowheader' : 'cell'}
          className={`${place === 0 ? 'table-first' : ''} ${column.isNumber ? 'table-number numbers' : ''} ${column.isMinor ? 'table-minor' : ''}`}
        >
          {place > 0 && (
            <span className="table-name" aria-hidden="true">
              {column.label}
            </span>
          )}
          {place === 0 && hrefOf !== undefined ? (
            <AriaLink href={hrefOf(row)} className="table-link">
              {column.cell(row)}
            </AriaLink>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
      {actionsOf !== undefined && <td className="table-actions">{actionsOf(row)}</td>}
    </tr>
  )
}

function SelectAll<R>({ rows, idOf, selected = new Set(), onSelect }: TableProps<R>) {
  const texts = useUiTexts()
  const all = rows.length > 0 && rows.every((row) => selected.has(idOf(row)))
  return (
    <Checkbox
      label={texts.selectAll}
      hidesLabel
      isSelected={all}
      isIndeterminate={!all && selected.size > 0}
      onChange={(isSelected) => onSelect?.(new Set(isSelected ? rows.map(idOf) : []))}
    />
  )
}
