/** The languages of the console. If you add one here, the type check names every catalogue that lacks it. */
export const locales = ['en', 'ar'] as const
export type Locale = (typeof locales)[number]

/** BCP 47 tags for browsers and React Aria. */
export const tagOf: Record<Locale, string> = { en: 'en-US', ar: 'ar-AE' }
export const directionOf: Record<Locale, 'ltr' | 'rtl'> = { en: 'ltr', ar: 'rtl' }
/** The name of each language in that language. */
export const nameOf: Record<Locale, string> = { en: 'English', ar: 'العربية' }
