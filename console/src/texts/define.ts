import { useLocale } from './locale.tsx'
import { type Locale, tagOf } from './locales.ts'

/** Type of a translation: the same names as the English catalogue, and functions with the same arguments. */
export type Same<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? string
    : T[K] extends (...args: infer A) => string
      ? (...args: A) => string
      : T[K] extends readonly string[]
        ? readonly string[]
        : Same<T[K]>
}

/** Returns a hook that returns a text catalogue in the current language: `const useTexts = textsOf({ hello: 'Hello' }, { ar: { hello: 'مرحبا' } })`. */
export function textsOf<const T extends object>(en: T, others: Record<Exclude<Locale, 'en'>, Same<T>>): () => Same<T> {
  const all = { en: en as Same<T>, ...others }
  return () => all[useLocale().locale]
}

/** Formats a count: `count('en')(2, { one: '# agent', other: '# agents' })`. `#` becomes the number in the notation of the language. */
export function count(locale: Locale) {
  const rules = new Intl.PluralRules(tagOf[locale])
  const numbers = new Intl.NumberFormat(tagOf[locale])
  return (n: number, forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }): string =>
    (forms[rules.select(n)] ?? forms.other).replace('#', numbers.format(n))
}
