/** The languages of the console. Another one is added here, and the type check then names every catalogue that lacks it. */
export const locales = ['en', 'ar'] as const
export type Locale = (typeof locales)[number]

/** As browsers and React Aria call the languages. */
export const tagOf: Record<Locale, string> = { en: 'en-US', ar: 'ar-AE' }
export const directionOf: Record<Locale, 'ltr' | 'rtl'> = { en: 'ltr', ar: 'rtl' }
/** Each in itself. */
export const nameOf: Record<Locale, string> = { en: 'English', ar: 'العربية' }
