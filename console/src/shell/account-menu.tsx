import { Button as AriaButton } from 'react-aria-components/Button'
import { leaveBy } from '../routing/location.ts'
import { useRights, useSession, useSignedIn } from '../session/session.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu, MenuItem, MenuLine } from '../ui/menu.tsx'
import { LanguageChoice, ThemeChoice } from './preferences.tsx'
import { useShellTexts } from './texts.ts'

/** Shows the key, the theme, the language, and the sign-out action. */
export function AccountMenu({ onShortcuts }: { onShortcuts(): void }) {
  const texts = useShellTexts().account
  const { signOut } = useSession()
  const { prefix } = useSignedIn()
  const rights = useRights()
  const trigger = (
    <AriaButton className="switcher account">
      <Icon name="keys" size={16} className="muted" />
      <span className="hidden-visually">{texts.label}: </span>
      <span className="account-words">
        <span className="mono clip" dir="ltr">
          {prefix}…
        </span>
        <span className="account-scopes clip">{[...rights.scopes].join(', ')}</span>
      </span>
      <Icon name="upDown" size={15} className="muted" />
    </AriaButton>
  )
  return (
    <Menu label={texts.label} trigger={trigger}>
      <ThemeChoice />
      <MenuLine />
      <LanguageChoice />
      <MenuLine />
      <MenuItem icon="keyboard" onAction={onShortcuts} hint={<kbd className="keycap">?</kbd>}>
        {texts.shortcuts}
      </MenuItem>
      <MenuItem icon="signOut" onAction={() => leaveBy(signOut)}>
        {texts.signOut}
      </MenuItem>
    </Menu>
  )
}
