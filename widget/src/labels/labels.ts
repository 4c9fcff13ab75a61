import type { ChatLabels } from 'repartee-client/widget'
import { ar } from './ar.ts'
import { de } from './de.ts'
import { en } from './en.ts'

export type Labels = ChatLabels

const BUILT_IN: Record<string, Labels> = { en, de, ar }

/** Languages that are written from right to left. */
const FROM_RIGHT = /^(ar|arc|ckb|dv|fa|he|ps|sd|ug|ur|yi)(-|$)/i

export const isFromRight = (lang: string): boolean => FROM_RIGHT.test(lang)

/** Returns the labels of a language (default: English) with the owner's labels on top, and the language of the result. */
export function labelsFor(lang: string, own: Partial<Labels> = {}): { labels: Labels; lang: string } {
  const known = lang.toLowerCase().split('-', 1)[0]!
  const built = BUILT_IN[known]
  return { labels: { ...(built ?? en), ...own }, lang: built === undefined && Object.keys(own).length === 0 ? 'en' : lang }
}

/** Replaces the placeholders of a text. */
export const filled = (text: string, values: Record<string, string | number>): string =>
  text.replace(/\{(\w+)\}/g, (mark, name: string) => String(values[name] ?? mark))
