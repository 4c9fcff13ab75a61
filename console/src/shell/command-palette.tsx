import '../ui/overlay.css'
import { useState } from 'react'
import { Autocomplete } from 'react-aria-components/Autocomplete'
import { Dialog } from 'react-aria-components/Dialog'
import { Header } from 'react-aria-components/Header'
import { ListBox, ListBoxItem, ListBoxSection } from 'react-aria-components/ListBox'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { useLocation } from 'wouter'
import { useAgentSearch } from '../queries/agents.ts'
import { leaveBy } from '../routing/location.ts'
import { useRights, useSession } from '../session/session.tsx'
import { applyTheme, themes } from '../session/theme.ts'
import { SearchField } from '../ui/field.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Tile } from '../ui/tile.tsx'
import { homeOf, usePlaces } from './navigation.tsx'
import { useShellTexts } from './texts.ts'

interface Entry {
  id: string
  label: string
  icon?: IconName
  act(): void
}

const MOST_AGENTS = 8

/** Finds every page and action by a few letters of its name. */
export function CommandPalette({ onClose }: { onClose(): void }) {
  const texts = useShellTexts()
  const [text, setText] = useState('')
  const [, navigate] = useLocation()
  const groups = useEntries(text, navigate)
  const byId = new Map(groups.flatMap(({ entries }) => entries.map((entry) => [entry.id, entry] as const)))
  const act = (id: string) => {
    onClose()
    byId.get(id)?.act()
  }
  return (
    <ModalOverlay className="scrim scrim-high" isOpen isDismissable onOpenChange={(open) => !open && onClose()}>
      <Modal className="dialog-frame palette">
        <Dialog aria-label={texts.palette.title} className="dialog">
          <Autocomplete inputValue={text} onInputChange={setText}>
            <div className="palette-search">
              <SearchField label={texts.palette.placeholder} isOverList autoFocus />
            </div>
            <ListBox
              aria-label={texts.palette.title}
              className="options palette-menu"
              items={groups}
              onAction={(key) => act(String(key))}
              renderEmptyState={() => <p className="options-empty">{texts.palette.none}</p>}
            >
              {({ id, label, entries }) => (
                <ListBoxSection id={id} items={entries}>
                  <Header className="menu-heading">{label}</Header>
                  {entries.map((entry) => (
                    <ListBoxItem key={entry.id} id={entry.id} textValue={entry.label} className="option">
                      {entry.icon === undefined ? <Tile name={entry.label} /> : <Icon name={entry.icon} />}
                      <span className="option-text as-written">{entry.label}</span>
                    </ListBoxItem>
                  ))}
                </ListBoxSection>
              )}
            </ListBox>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

function useEntries(text: string, navigate: (to: string) => void) {
  const texts = useShellTexts()
  const rights = useRights()
  const { signOut } = useSession()
  const places = usePlaces()
  const { found } = useAgentSearch(text)
  const pages: Entry[] = places.map(({ href, label, route }) => ({
    id: href,
    label,
    icon: route.nav!.icon,
    act: () => navigate(href),
  }))
  const agents: Entry[] = found
    .slice(0, MOST_AGENTS)
    .map(({ id, name }) => ({ id, label: name, act: () => navigate(homeOf(id, rights)) }))
  const actions: Entry[] = [
    ...(rights.can('admin')
      ? [{ id: 'new', label: texts.nav.newAgent, icon: 'plus' as const, act: () => navigate('/agents/new') }]
      : []),
    ...themes.map((theme) => ({
      id: `theme ${theme}`,
      label: `${texts.account.theme}: ${texts.account.themes[theme]}`,
      icon: (theme === 'dark' ? 'moon' : theme === 'light' ? 'sun' : 'screen') as IconName,
      act: () => applyTheme(theme),
    })),
    { id: 'out', label: texts.account.signOut, icon: 'signOut', act: () => leaveBy(signOut) },
  ]
  const words = text.toLocaleLowerCase().split(/\s+/).filter(Boolean)
  const fitting = (entries: Entry[]) =>
    entries.filter(({ label }) => words.every((word) => label.toLocaleLowerCase().includes(word)))
  return [
    { id: 'pages', label: texts.palette.pages, entries: fitting(pages) },
    { id: 'agents', label: texts.palette.agents, entries: agents },
    { id: 'actions', label: texts.palette.actions, entries: fitting(actions) },
  ].filter(({ entries }) => entries.length > 0)
}
