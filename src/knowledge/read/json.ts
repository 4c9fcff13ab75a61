import { DocumentError } from '../../core/document-error.ts'
import type { Block, Reading } from './block.ts'

const MAX_DEPTH = 200
const MAX_INDENT = 8

/**
 * JSON, or one value a line, as text: every value with the name of its field, objects indented under theirs. Objects of a list become
 * paragraphs of their own, so that each can be found alone.
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
    return JSON.parse(source)
  } catch (cause) {
    const lines = source.split('\n').filter((line) => line.trim() !== '')
    try {
      if (lines.length > 1) return lines.map((line) => JSON.parse(line) as unknown)
    } catch {}
    throw new DocumentError('damaged', 'The document is not well-formed JSON, nor JSON line by line.', { cause })
  }
}

function titleOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { title } = value as { title?: unknown }
  return typeof title === 'string' && title.trim() !== '' ? title : null
}

interface Place {
  /** How deep in the value, and how far to the right in the text. */
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
