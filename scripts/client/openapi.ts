// The parts of the OpenAPI document that the client is generated from.

export interface Schema {
  type?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
}

export interface Operation {
  operationId: string
  summary: string
  method: string
  path: string
  parameters: { name: string; in: string; required: boolean; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content: Record<string, { schema: Schema }> }>
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: { Error: Schema } }
}

export const operationsOf = ({ paths }: OpenApi): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  )

/** Returns the content of the successful response, by media type. */
export const contentOf = ({ responses }: Operation): Record<string, { schema: Schema }> =>
  Object.entries(responses).find(([status]) => status.startsWith('2'))![1].content

/** Returns the schema of the response. An event stream has none: its last event contains the body of the plain response. */
export function responseOf(operation: Operation): Schema {
  const { 'application/json': json, 'application/x-ndjson': lines } = contentOf(operation)
  return (json ?? lines ?? { schema: {} }).schema
}

/** Returns the names of the parameters in the path, in its order. */
export const idsOf = ({ path }: Operation): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)

/** Returns the schema of the query or of the JSON body, or undefined if the operation takes neither. */
export function fieldsOf({ parameters, requestBody }: Operation): Schema | undefined {
  const query = parameters.filter((parameter) => parameter.in === 'query')
  const schema =
    query.length === 0
      ? requestBody?.content['application/json']?.schema
      : {
          properties: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
          required: query.filter(({ required }) => required).map(({ name }) => name),
        }
  return Object.keys(schema?.properties ?? {}).length === 0 ? undefined : schema
}

/** Returns the schema of the input object: ids and fields side by side. Throws if a field has the name of an id. */
export function inputOf(operation: Operation): Schema {
  const fields = fieldsOf(operation)
  const ids = idsOf(operation)
  const double = ids.find((id) => fields?.properties?.[id] !== undefined)
  if (double !== undefined) throw new Error(`${operation.operationId} has the name ${double} in its path and in its fields`)
  const idSchemas = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name, schema }) => [name, schema])
  return {
    properties: { ...Object.fromEntries(idSchemas), ...fields?.properties },
    required: [...ids, ...(fields?.required ?? [])],
  }
}

export const capital = (text: string): string => text[0]!.toUpperCase() + text.slice(1)
