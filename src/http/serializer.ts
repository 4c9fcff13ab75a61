import fastJson from 'fast-json-stringify'

/** Writes values of a schema as JSON; nothing that is not in the schema gets out. Compiled at first use: a start should not wait for answers that nobody asks for. */
export function lazySerializer(schema: object): (value: unknown) => string {
  let stringify: ((value: unknown) => string) | undefined
  return (value) => {
    stringify ??= fastJson(schema)
    return stringify(value)
  }
}
