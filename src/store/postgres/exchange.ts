import type { Socket } from 'node:net'
import type pg from 'pg'
import type { Row, Value } from '../database.ts'
import { isOfServer } from './errors.ts'

/** The rows of a statement, each as values in column order. */
export interface PostgresAnswer {
  columns: string[]
  rows: Value[][]
}

export interface PostgresRequest extends PostgresAnswer {
  /** Name of the statement, which the server parses once per connection. */
  name: string
  text: string
  values: readonly Value[]
}

export const toRows = ({ columns, rows }: PostgresAnswer): Row[] =>
  rows.map((values) => {
    const row: Row = {}
    for (let i = 0; i < columns.length; i++) row[columns[i]!] = values[i]!
    return row
  })

interface Field {
  name: string
  dataTypeID: number
}
/** How the rows of a statement are read. */
interface Shape {
  columns: string[]
  /** By column; undefined if the text is the value. */
  parsers: (((text: string) => Value) | undefined)[]
}

/** The part of the driver's connection that implements the protocol. */
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

/** Parsed statements by connection and name. */
const parsed = new WeakMap<Wire, Map<string, Shape>>()

/**
 * Sends statements in one packet as one transaction: committed if it resolves, rolled back if it rejects. Not for connections of a pooler.
 * `more` returns the rest of the transaction after the first answers. The columns of a statement are requested once.
 */
export function exchange(
  client: pg.ClientBase,
  types: pg.CustomTypesConfig,
  first: PostgresRequest[],
  more?: () => PostgresRequest[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new Exchange(types, first, more, (error) => (error ? reject(error) : resolve())))
  })
}

/** A query for the driver, which calls it with each message of the answer. */
class Exchange {
  readonly #types: pg.CustomTypesConfig
  #asked: PostgresRequest[]
  #more: (() => PostgresRequest[]) | undefined
  /** The driver wraps it with its timeout. */
  callback: (error: Error | null) => void
  /** Undefined until the query is sent. If the connection broke before that, the driver calls `handleError` without `submit`. */
  #wire: Wire | undefined
  #parsed!: Map<string, Shape>
  #at = 0
  #shape: Shape | undefined

  constructor(
    types: pg.CustomTypesConfig,
    first: PostgresRequest[],
    more: (() => PostgresRequest[]) | undefined,
    callback: (error: Error | null) => void,
  ) {
    this.#types = types
    this.#asked = first
    this.#more = more
    this.callback = callback
  }

  submit(connection: object): void {
    const wire = connection as Wire
    this.#wire = wire
    this.#parsed = parsed.get(wire) ?? new Map()
    parsed.set(wire, this.#parsed)
    this.#send(wire)
  }

  /** A value that cannot be sent must not end the process: nothing could catch the error in an event of the connection. */
  #send(wire: Wire): void {
    try {
      this.#write(wire)
    } catch (error) {
      this.#more = undefined
      wire.stream.destroy(error as Error)
    }
  }

  #write(wire: Wire): void {
    const described = new Set<string>()
    wire.stream.cork()
    for (const { name, text, values } of this.#asked) {
      const isNew = !this.#parsed.has(name) && !described.has(name)
      if (isNew) {
        described.add(name)
        // A statement that was parsed and then failed still exists.
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
    this.#shape = {
      columns: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => (dataTypeID === TEXT ? undefined : this.#types.getTypeParser(dataTypeID, 'text'))),
    }
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const asked = this.#asked[this.#at]!
    this.#shape ??= this.#parsed.get(asked.name)!
    const { parsers } = this.#shape
    asked.rows.push(fields.map((text, i) => (text === null ? null : (parsers[i]?.(text) ?? text))))
  }

  handleCommandComplete(): void {
    const asked = this.#asked[this.#at++]!
    const shape = this.#parsed.get(asked.name) ?? this.#shape ?? { columns: [], parsers: [] }
    this.#parsed.set(asked.name, shape)
    asked.columns = shape.columns
    this.#shape = undefined
    if (this.#at < this.#asked.length || this.#more === undefined) return
    this.#asked = this.#more()
    this.#more = undefined
    this.#at = 0
    this.#send(this.#wire!)
  }

  handleError(error: Error): void {
    if (this.#more !== undefined) this.#giveUp(error)
    this.#more = undefined
    this.callback(error)
  }

  /** A Sync ends what the server refused. If the server has not answered yet, a Sync would commit the first part without the rest. */
  #giveUp(error: Error): void {
    if (isOfServer(error)) this.#wire?.sync()
    else this.#wire?.stream.destroy()
  }

  handleReadyForQuery(): void {
    this.callback(null)
  }
}

const toWire = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value)

const TEXT = 25
