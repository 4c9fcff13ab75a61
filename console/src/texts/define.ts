import { useLocale } from './locale.tsx'
import { type Locale, tagOf } from './locales.ts'

/** What a language says in the place of English: the same names, and functions of the same arguments. */
export type Same<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? string
    : T[K] extends (...args: infer A) => string
      ? (...args: A) => string
      : T[K] extends readonly string[]
        ? readonly string[]
        : Same<T[K]>
}

/**
 * One catalogue of texts, in all languages, as a hook that resolves to the one in use:
 * `const useTexts = textsOf({ hello: 'Hello' }, { ar: { hello: 'مرحبا' } })`.
 */
export function textsOf<const T extends object>(en: T, others: Record<Exclude<Locale, 'en'>, Same<T>>): () => Same<T> {
  const all = { en: en as Same<T>, ...others }
  return () => all[useLocale().locale]
}

/** `count('en')(2, { one: '# agent', other: '# agents' })`; `#` becomes the number as the language writes it. */
export function count(locale: Locale) {
  const rules = new Intl.PluralRules(tagOf[locale])
  const numbers = new Intl.NumberFormat(tagOf[locale])
  return (n: number, forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }): string =>
    (forms[rules.select(n)] ?? forms.other).replace('#', numbers.format(n))
}
