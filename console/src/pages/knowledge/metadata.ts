import type { Metadata } from '../../queries/documents.ts'

export const metadataKinds = ['text', 'number', 'boolean', 'list'] as const
export type MetadataKind = (typeof metadataKinds)[number]

/** A line of the editor: a name and its value as typed. */
export interface Entry {
  key: string
  kind: MetadataKind
  /** For a list, one value per line; for a boolean, `true` or `false`. */
  text: string
}

type Value = Metadata[string]

const kindOf = (value: Value): MetadataKind =>
  Array.isArray(value) ? 'list' : typeof value === 'string' ? 'text' : (typeof value as 'number' | 'boolean')

export const toEntries = (metadata: Metadata): Entry[] =>
  Object.entries(metadata).map(([key, value]) => ({
    key,
    kind: kindOf(value),
    text: Array.isArray(value) ? value.map(String).join('\n') : String(value),
  }))

/** Converts lines to metadata. Numbers that were in a list before stay numbers. */
export function toMetadata(entries: readonly Entry[], before: Metadata): Metadata {
  return Object.fromEntries(entries.map((entry) => [entry.key.trim(), toValue(entry, before[entry.key.trim()])]))
}

function toValue({ kind, text }: Entry, before: Value | undefined): Value {
  if (kind === 'number') return Number(text)
  if (kind === 'boolean') return text === 'true'
  if (kind === 'text') return text
  const old = new Map((Array.isArray(before) ? before : []).map((one) => [String(one), one]))
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : (old.get(line) ?? line)))
}

export type EntryProblem = 'noName' | 'twice' | 'notNumber'

/** Returns the problem of a line; undefined if there is none. */
export function problemOf(entries: readonly Entry[], place: number): EntryProblem | undefined {
  const { key, kind, text } = entries[place]!
  if (key.trim() === '') return 'noName'
  if (entries.findIndex((one) => one.key.trim() === key.trim()) !== place) return 'twice'
  return kind === 'number' && (text.trim() === '' || Number.isNaN(Number(text))) ? 'notNumber' : undefined
}
