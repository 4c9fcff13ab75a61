import type { Socket } from 'node:net'
import type pg from 'pg'

export interface Asked<R> {
  /** Of the statement, which the server parses once for each connection. */
  name: string
  text: string
  values: readonly (string | number | null | Uint8Array)[]
  /** Its answer. */
  rows: R[]
}

interface Field {
  name: string
  dataTypeID: number
}
type ReadRow = (values: (string | null)[]) => object

/** The part of the driver's connection that speaks the protocol. */
interface Wire {
  stream: Socket
  parse(statement: { name: string; text: string }): void
  close(what: { type: 'S'; name: string }): void
  bind(what: { statement: string; values: readonly unknown[]; valueMapper: (value: unknown) => unknown }): void
  describe(what: { type: 'P'; name: string }): void
  execute(what: object): void
  flush(): void
  sync(): void
}

/** By connection and name: how the rows of a statement are read that is parsed there. */
const parsed = new WeakMap<Wire, Map<string, ReadRow>>()

/**
 * Sends statements in one packet; they are one transaction, which is committed when it resolves and undone when it rejects. `more` is asked for
 * the rest of the transaction when the first have their answers. What the server says of a statement's rows is asked for once. The connection must not
 * be one that is used through a pooler.
 */
export function exchange<R extends object>(
  client: pg.ClientBase,
  types: pg.CustomTypesConfig,
  first: Asked<R>[],
  more?: () => Asked<R>[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new Exchange(types, first, more, (error) => (error ? reject(error) : resolve())))
  })
}

/** What the driver calls a query: it is told of each message of the answer. */
class Exchange<R extends object> {
  readonly #types: pg.CustomTypesConfig
  #asked: Asked<R>[]
  #more: (() => Asked<R>[]) | undefined
  /** The driver puts its time limit around it. */
  callback: (error: Error | null) => void
  #wire!: Wire
  #parsed!: Map<string, ReadRow>
  #at = 0
  #readRow: ReadRow | undefined

  constructor(
    types: pg.CustomTypesConfig,
    first: Asked<R>[],
    more: (() => Asked<R>[]) | undefined,
    callback: (error: Error | null) => void,
  ) {
    this.#types = types
    this.#asked = first
    this.#more = more
    this.callback = callback
  }

  submit(connection: object): void {
    this.#wire = connection as Wire
    this.#parsed = parsed.get(this.#wire) ?? new Map()
    parsed.set(this.#wire, this.#parsed)
    this.#send()
  }

  #send(): void {
    const wire = this.#wire
    const described = new Set<string>()
    wire.stream.cork()
    for (const { name, text, values } of this.#asked) {
      const isNew = !this.#parsed.has(name) && !described.has(name)
      if (isNew) {
        described.add(name)
        // One that was parsed and then failed is there already.
        wire.close({ type: 'S', name })
        wire.parse({ name, text })
      }
      wire.bind({ statement: name, values, valueMapper: toWire })
      if (isNew) wire.describe({ type: 'P', name: '' })
      wire.execute({})
    }
    if (this.#more === undefined) wire.sync()
    else wire.flush()
    wire.stream.uncork()
  }

  handleRowDescription({ fields }: { fields: Field[] }): void {
    this.#readRow = rowReader(fields, this.#types)
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const asked = this.#asked[this.#at]!
    this.#readRow ??= this.#parsed.get(asked.name)!
    asked.rows.push(this.#readRow(fields) as R)
  }

  handleCommandComplete(): void {
    const { name } = this.#asked[this.#at++]!
    if (!this.#parsed.has(name)) this.#parsed.set(name, this.#readRow ?? noRows)
    this.#readRow = undefined
    if (this.#at < this.#asked.length || this.#more === undefined) return
    this.#asked = this.#more()
    this.#more = undefined
    this.#at = 0
    this.#send()
  }

  handleError(error: Error): void {
    if (this.#more !== undefined) this.#wire.sync()
    this.#more = undefined
    this.callback(error)
  }

  handleReadyForQuery(): void {
    this.callback(null)
  }
}

const noRows: ReadRow = () => ({})

const toWire = (value: unknown): unknown =>
  typeof value === 'number'
    ? String(value)
    : value instanceof Uint8Array && !Buffer.isBuffer(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      : value

const TEXT = 25

function rowReader(fields: Field[], types: pg.CustomTypesConfig): ReadRow {
  const columns = fields.map(({ name, dataTypeID }) => ({
    name,
    parse: dataTypeID === TEXT ? undefined : types.getTypeParser(dataTypeID, 'text'),
  }))
  return (values) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < columns.length; i++) {
      const { name, parse } = columns[i]!
      const value = values[i]!
      row[name] = parse === undefined || value === null ? value : parse(value)
    }
    return row
  }
}
