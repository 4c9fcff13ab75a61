import './shell.css'
import './sidebar.css'
import './palette.css'
import { useCallback, useEffect, useState } from 'react'
import { Dialog as AriaDialog } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { Link, useLocation } from 'wouter'
import { LeaveDialog } from '../routing/leave-guard.tsx'
import { Pages } from '../routing/pages.tsx'
import { useSession } from '../session/session.tsx'
import { IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { loaded } from '../ui/loaded.ts'
import { useUiTexts } from '../ui/texts.ts'
import { toast } from '../ui/toast.tsx'
import { ConnectionNotice } from './connection.tsx'
import { Logo } from './logo.tsx'
import { ShortcutHelp, useShortcuts } from './shortcuts.tsx'
import { Sidebar } from './sidebar.tsx'
import { Refused } from './sign-in.tsx'
import { useShellTexts } from './texts.ts'

const palette = loaded(async () => (await import('./command-palette.tsx')).CommandPalette)

/** The overlay that is open. */
type Open = 'drawer' | 'palette' | 'help' | undefined

/** Everything around the pages, for signed-in readers. */
export function Shell() {
  const texts = useShellTexts()
  const [open, setOpen] = useState<Open>()
  const close = useCallback(() => setOpen(undefined), [])
  const onPalette = useOpenPalette(setOpen)
  const CommandPalette = palette.use()
  const onShortcuts = useCallback(() => setOpen('help'), [])
  useShortcuts({ onPalette, onHelp: onShortcuts })
  const [path] = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: every navigation closes the drawer
  useEffect(() => setOpen((now) => (now === 'drawer' ? undefined : now)), [path])
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => document.getElementById('content')?.focus()}>
        {texts.skip}
      </button>
      <header className="topbar">
        <IconButton icon="menu" label={texts.nav.open} onPress={() => setOpen('drawer')} />
        <Link href="/" className="brand">
          <Logo size={22} />
          Repartee
        </Link>
        <IconButton icon="search" label={texts.palette.open} onPress={onPalette} />
      </header>
      <aside className="shell-side" aria-label={texts.console}>
        <Sidebar onPalette={onPalette} onShortcuts={onShortcuts} />
      </aside>
      <main id="content" tabIndex={-1} className="shell-main">
        <Pages />
      </main>
      <ConnectionNotice />
      <ModalOverlay
        className="scrim scrim-drawer"
        isOpen={open === 'drawer'}
        onOpenChange={(isOpen) => !isOpen && close()}
        isDismissable
      >
        <Modal className="drawer">
          <AriaDialog aria-label={texts.nav.label} className="drawer-dialog">
            <IconButton icon="close" label={texts.nav.close} className="drawer-close" onPress={close} />
            <Sidebar onFollow={close} onPalette={onPalette} onShortcuts={onShortcuts} />
          </AriaDialog>
        </Modal>
      </ModalOverlay>
      <ShortcutHelp isOpen={open === 'help'} onClose={close} />
      {open === 'palette' && CommandPalette !== undefined && <CommandPalette onClose={close} />}
      <LeaveDialog />
      <RefusedDialog />
    </div>
  )
}

/** Opens the palette as soon as its code is loaded, unless another overlay was opened first. */
function useOpenPalette(setOpen: (change: (now: Open) => Open) => void): () => void {
  const { noConnection } = useUiTexts()
  return useCallback(() => {
    palette.want().then(
      () => setOpen((now) => (now === undefined || now === 'drawer' ? 'palette' : now)),
      () => toast(noConnection, { tone: 'bad' }),
    )
  }, [setOpen, noConnection])
}

function RefusedDialog() {
  const texts = useShellTexts()
  const { state, signOut } = useSession()
  return (
    <Dialog title={texts.refused.title} isOpen={state.is === 'refused'} onClose={signOut}>
      <Refused />
    </Dialog>
  )
}
