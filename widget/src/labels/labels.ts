import type { ChatLabels } from 'repartee-client/widget'
import { ar } from './ar.ts'
import { de } from './de.ts'
import { en } from './en.ts'

export type Labels = ChatLabels

const BUILT_IN: Record<string, Labels> = { en, de, ar }

/** Languages that are written from right to left. */
const FROM_RIGHT = /^(ar|arc|ckb|dv|fa|he|ps|sd|ug|ur|yi)(-|$)/i

export const isFromRight = (lang: string): boolean => FROM_RIGHT.test(lang)

/** The texts of a language, or the English ones, with those of the page's owner before them; and the language that they are in. */
export function labelsFor(lang: string, own: Partial<Labels> = {}): { labels: Labels; lang: string } {
  const known = lang.toLowerCase().split('-', 1)[0]!
  const built = BUILT_IN[known]
  return { labels: { ...(built ?? en), ...own }, lang: built === undefined && Object.keys(own).length === 0 ? 'en' : lang }
}

/** A text with what belongs into it. */
export const filled = (text: string, values: Record<string, string | number>): string =>
  text.replace(/\{(\w+)\}/g, (mark, name: string) => String(values[name] ?? mark))
