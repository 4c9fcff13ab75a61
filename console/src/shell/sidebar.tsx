import { Button as AriaButton } from 'react-aria-components/Button'
import { Link } from 'wouter'
import { Icon } from '../ui/icon.tsx'
import { AccountMenu } from './account-menu.tsx'
import { AgentSwitcher } from './agent-switcher.tsx'
import { Logo } from './logo.tsx'
import { NavGroup, usePlaces } from './navigation.tsx'
import { PaletteKeys } from './shortcuts.tsx'
import { useShellTexts } from './texts.ts'

interface SidebarProps {
  /** Called when a link is followed, e.g. to close the drawer. */
  onFollow?: () => void
  onPalette(): void
  onShortcuts(): void
}

export function Sidebar({ onFollow, onPalette, onShortcuts }: SidebarProps) {
  const texts = useShellTexts()
  const places = usePlaces()
  return (
    <div className="sidebar">
      <div className="sidebar-head">
        <Link href="/" className="brand" onClick={onFollow}>
          <Logo size={22} />
          Repartee
        </Link>
      </div>
      <AriaButton className="palette-button" onPress={onPalette}>
        <Icon name="search" size={15} />
        <span className="palette-words">{texts.palette.title}</span>
        <PaletteKeys isHint />
      </AriaButton>
      <nav aria-label={texts.nav.label} className="sidebar-nav">
        <NavGroup group="main" places={places} onFollow={onFollow} />
        <div className="nav-group">
          <h2 className="nav-heading">{texts.nav.agent}</h2>
          <AgentSwitcher {...(onFollow && { onPick: onFollow })} />
          <NavGroup group="agent" places={places} onFollow={onFollow} />
        </div>
        <NavGroup group="service" label={texts.nav.service} places={places} onFollow={onFollow} />
      </nav>
      <div className="sidebar-foot">
        <AccountMenu onShortcuts={onShortcuts} />
      </div>
    </div>
  )
}
