import { DocumentError } from '../../../core/document-error.ts'
import type { Block, Reading } from '../block.ts'

const MAX_DEPTH = 200
const MAX_INDENT = 8

/**
 * Reads JSON, or JSON Lines, as text: each value with the name of its field, and nested objects indented. Each object of a list becomes a separate
 * paragraph, so that it can be found alone.
 */
export function readJson(text: string): Reading {
  const value = parse(text)
  const blocks: Block[] = []
  for (const item of Array.isArray(value) ? value : [value]) {
    const lines: string[] = []
    write(item, { depth: 0, indent: 0, name: '' }, lines)
    if (lines.length > 0) blocks.push({ kind: 'list', text: lines.join('\n'), level: 0 })
  }
  return { title: titleOf(value), blocks }
}

function parse(text: string): unknown {
  const source = text.replace(/^\ufeff/, '')
  try {
    return parseOne(source)
  } catch (cause) {
    const lines = source.split('\n').filter((line) => line.trim() !== '')
    try {
      if (lines.length > 1) return lines.map(parseOne)
    } catch {}
    throw new DocumentError('damaged', 'The document is not well-formed JSON, nor JSON line by line.', { cause })
  }
}

/** Long numbers, such as ids, and numbers with an exponent. */
const INEXACT = /\d{16}|\d[eE]/

/** Parses JSON. Numbers that JavaScript would change stay as their original text. */
function parseOne(json: string): unknown {
  const value: unknown = JSON.parse(json)
  if (!INEXACT.test(json)) return value
  try {
    return JSON.parse(json, asWritten as Parameters<typeof JSON.parse>[1])
  } catch {
    // The value is nested too deep for a reviver.
    return value
  }
}

const asWritten = (_name: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === 'number' && source !== undefined && String(value) !== source ? source : value

function titleOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { title } = value as { title?: unknown }
  return typeof title === 'string' && title.trim() !== '' ? title : null
}

interface Place {
  /** Depth in the value, and indent in the text. */
  depth: number
  indent: number
  name: string
}

function write(value: unknown, { depth, indent, name }: Place, lines: string[]): void {
  if (depth > MAX_DEPTH) throw new DocumentError('too_large', `The JSON is nested more than ${MAX_DEPTH} deep.`)
  const before = '  '.repeat(Math.min(indent, MAX_INDENT))
  const label = name === '' ? '' : `${name}: `
  if (typeof value !== 'object' || value === null) {
    if (value !== null && value !== '') lines.push(`${before}${label}${String(value)}`)
    return
  }
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) {
    const items = value.filter((item) => item !== null && item !== '').map(String)
    if (items.length > 0) lines.push(`${before}${label}${items.join(', ')}`)
    return
  }
  if (name !== '') lines.push(`${before}${name}:`)
  const inner = { depth: depth + 1, indent: name === '' ? indent : indent + 1 }
  for (const [key, item] of Object.entries(value)) write(item, { ...inner, name: Array.isArray(value) ? '' : key }, lines)
}
