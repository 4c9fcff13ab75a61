import { applyTheme, type Theme, themes, useTheme } from '../session/theme.ts'
import { useLocale } from '../texts/locale.tsx'
import { locales, nameOf } from '../texts/locales.ts'
import { IconButton } from '../ui/button.tsx'
import type { IconName } from '../ui/icon.tsx'
import { Menu, MenuChoice } from '../ui/menu.tsx'
import { useShellTexts } from './texts.ts'

const ICONS: Record<Theme, IconName> = { system: 'screen', light: 'sun', dark: 'moon' }

export function ThemeChoice() {
  const texts = useShellTexts().account
  const options = themes.map((id) => ({ id, label: texts.themes[id], icon: ICONS[id] }))
  return <MenuChoice label={texts.theme} options={options} value={useTheme()} onChange={(theme) => applyTheme(theme)} />
}

export function LanguageChoice() {
  const texts = useShellTexts().account
  const { locale, setLocale } = useLocale()
  const options = locales.map((id) => ({ id, label: nameOf[id] }))
  return <MenuChoice label={texts.language} options={options} value={locale} onChange={setLocale} />
}

/** Theme and language, for readers who are not signed in. */
export function Preferences() {
  const texts = useShellTexts().account
  return (
    <>
      <Menu label={texts.language} trigger={<IconButton icon="language" label={texts.language} />}>
        <LanguageChoice />
      </Menu>
      <Menu label={texts.theme} trigger={<IconButton icon={ICONS[useTheme()]} label={texts.theme} />}>
        <ThemeChoice />
      </Menu>
    </>
  )
}
