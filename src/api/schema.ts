/** The type of a schema's values. Exists only for the compiler. */
declare const value: unique symbol
/** Marks an optional property. JSON and Ajv do not see it. */
const optional = Symbol('optional')

/** A JSON Schema with the type of its values. */
export interface TSchema<T = unknown> {
  readonly [value]: T
}
export type Static<S extends TSchema> = S[typeof value]

type TOptional<S extends TSchema> = S & { readonly [optional]: true }
export type TProperties = Record<string, TSchema>
/** Flattens a type to one record, so that editors show its fields. */
type Flat<T> = { [K in keyof T]: T[K] }
type Values<P extends TProperties> = Flat<
  { [K in keyof P as P[K] extends TOptional<TSchema> ? never : K]: Static<P[K]> } & {
    [K in keyof P as P[K] extends TOptional<TSchema> ? K : never]?: Static<P[K]>
  }
>
export interface TObject<P extends TProperties = TProperties> extends TSchema<Values<P>> {
  properties: P
  required?: string[]
}
interface TString extends TSchema<string> {
  pattern?: string
}
interface TArray<S extends TSchema> extends TSchema<Static<S>[]> {
  items: S
}

interface About {
  description?: string
  default?: unknown
  examples?: unknown[]
}
interface OfText extends About {
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
}
interface OfNumber extends About {
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
}
interface OfArray extends About {
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
}
interface OfObject extends About {
  additionalProperties?: false
  maxProperties?: number
  /** The maximum size of the value as JSON, in bytes. */
  'x-maxJsonBytes'?: number
  propertyNames?: { maxLength: number }
}

const make = <S extends TSchema>(schema: object): S => schema as S
const isOptional = (schema: TSchema): boolean => optional in schema

function object<P extends TProperties>(properties: P, options?: OfObject): TObject<P> {
  const required = Object.keys(properties).filter((name) => !isOptional(properties[name]!))
  return make({ type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options })
}

const asOptional = <S extends TSchema>(schema: S): TOptional<S> => ({ ...schema, [optional]: true })

/** Builds JSON Schemas from which TypeScript derives types. Contains only what the contract needs. */
export const Type = {
  String: (options?: OfText) => make<TString>({ type: 'string', ...options }),
  Number: (options?: OfNumber) => make<TSchema<number>>({ type: 'number', ...options }),
  Integer: (options?: OfNumber) => make<TSchema<number>>({ type: 'integer', ...options }),
  Boolean: (options?: About) => make<TSchema<boolean>>({ type: 'boolean', ...options }),
  Null: () => make<TSchema<null>>({ type: 'null' }),
  Unknown: () => make<TSchema>({}),
  Literal: <const V extends string | boolean>(value: V, options?: About) =>
    make<TSchema<V>>({ type: typeof value, const: value, ...options }),
  Enum: <const V extends string>(values: readonly V[], options?: About) => make<TSchema<V>>({ enum: values, ...options }),
  Array: <S extends TSchema>(items: S, options?: OfArray) => make<TArray<S>>({ type: 'array', items, ...options }),
  Union: <S extends TSchema[]>(anyOf: S, options?: About) => make<TSchema<Static<S[number]>>>({ anyOf, ...options }),
  Object: object,
  /** An object with any names, or names that match a pattern. */
  Record: <S extends TSchema>({ pattern = '^.*$' }: TString, values: S, options?: OfObject) =>
    make<TSchema<Record<string, Static<S>>>>({
      type: 'object',
      patternProperties: { [pattern]: values },
      ...options,
    }),
  /** An optional property. */
  Optional: asOptional,
  /** The same object with all properties optional. */
  Partial: <P extends TProperties>({ properties }: TObject<P>, options?: OfObject) =>
    object(
      Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, asOptional(schema)])) as {
        [K in keyof P]: TOptional<P[K]>
      },
      options,
    ),
}
