import { createContext, type ReactNode, useContext, useLayoutEffect, useMemo, useState } from 'react'
import { I18nProvider } from 'react-aria-components/I18nProvider'
import { keep, kept } from '../session/preferences.ts'
import { directionOf, type Locale, locales, tagOf } from './locales.ts'

interface LocaleValue {
  locale: Locale
  /** BCP 47 tag for `Intl`. */
  tag: string
  dir: 'ltr' | 'rtl'
  setLocale(locale: Locale): void
}

const LocaleContext = createContext<LocaleValue | undefined>(undefined)

const isLocale = (value: string | undefined): value is Locale => locales.some((locale) => locale === value)

/** Returns the stored language, or the first language of the browser that the console supports. */
function firstLocale(): Locale {
  const picked = kept('locale')
  if (isLocale(picked)) return picked
  return navigator.languages.map((tag) => tag.split('-', 1)[0]).find(isLocale) ?? 'en'
}

export function LocaleProvider({ children }: { children: ReactNode }) {
  const [locale, setLocale] = useState(firstLocale)
  useLayoutEffect(() => {
    document.documentElement.lang = locale
    document.documentElement.dir = directionOf[locale]
  }, [locale])
  const value = useMemo(
    () => ({
      locale,
      tag: tagOf[locale],
      dir: directionOf[locale],
      setLocale: (next: Locale) => {
        keep('locale', next)
        setLocale(next)
      },
    }),
    [locale],
  )
  return (
    <LocaleContext value={value}>
      <I18nProvider locale={value.tag}>{children}</I18nProvider>
    </LocaleContext>
  )
}

export function useLocale(): LocaleValue {
  const value = useContext(LocaleContext)
  if (value === undefined) throw new Error('There is no LocaleProvider above.')
  return value
}
