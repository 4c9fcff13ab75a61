import { escapeHtml } from './markdown.ts'

/** The part of JSON Schema that the contract uses. */
export interface Schema {
  type?: string
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  format?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  $ref?: string
}

/** Describes a value's type in one line: `text, 1 to 200 characters`. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)!
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' | ')
  if (schema.type === 'array') return `list of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`
  return `${schema.type ?? 'anything'}${schema.format === undefined ? '' : ` (${schema.format})`}`
}

function limitsOf(schema: Schema): string[] {
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, minItems, maxItems } = schema
  const number = (n: number) => n.toLocaleString('en')
  const span = (least: number | undefined, most: number | undefined, unit: string) => {
    if (least === undefined && most === undefined) return []
    if (most === undefined) return least === 0 && unit === '' ? ['0 or more'] : [`at least ${number(least!)}${unit}`]
    return [least === undefined ? `at most ${number(most)}${unit}` : `${number(least)} to ${number(most)}${unit}`]
  }
  return [
    ...span(minimum, maximum, ''),
    ...(exclusiveMinimum === undefined ? [] : [`more than ${number(exclusiveMinimum)}`]),
    ...span(minLength, maxLength, ' characters'),
    ...span(minItems, maxItems, ' items'),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ]
}

/** Returns the fields of an object, with nested fields indented. */
export function fieldsOf(schema: Schema): string {
  const inner = objectIn(schema)
  const entries = Object.entries(inner?.properties ?? {})
  if (entries.length === 0) return ''
  const required = new Set(inner!.required)
  return `<dl class="fields">${entries.map(([name, field]) => fieldOf(name, field, required.has(name))).join('')}</dl>`
}

export function fieldOf(name: string, schema: Schema, isRequired: boolean): string {
  const facts = [`<span class="type">${escapeHtml(typeOf(schema))}</span>`]
  if (isRequired) facts.push('<span class="required">required</span>')
  facts.push(...limitsOf(schema).map((limit) => `<span>${escapeHtml(limit)}</span>`))
  const about = schema.description === undefined ? '' : `<p>${inline(schema.description)}</p>`
  return `<div><dt><code>${escapeHtml(name)}</code> ${facts.join(' ')}</dt><dd>${about}${fieldsOf(schema)}</dd></div>`
}

/** Returns the object schema that this is, contains as items, or offers next to null. */
function objectIn(schema: Schema): Schema | undefined {
  if (schema.properties !== undefined) return schema
  if (schema.items !== undefined) return objectIn(schema.items)
  return schema.anyOf?.map(objectIn).find((found) => found !== undefined)
}

/** Renders text with inline code. */
export const inline = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
