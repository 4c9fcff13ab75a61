import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { keep, kept } from '../session/preferences.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Switch } from '../ui/toggle.tsx'
import { usePlaces } from './navigation.tsx'
import { useShellTexts } from './texts.ts'

/** How long `g` waits for the second key, in milliseconds. */
const THEN_MS = 1_500
const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName) || target.role === 'textbox')
const isInDialog = () => document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]') !== null

/** Returns the Latin letter of a key, also on keyboards of other scripts. Events of browser autofill have no `key`. */
const letterOf = ({ key = '', code = '' }: Partial<KeyboardEvent>): string =>
  /^[a-z]$/i.test(key) ? key.toLowerCase() : (/^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase() ?? key)

/** Handles Ctrl or Cmd with K, `?`, and `g` with the letter of a page. */
export function useShortcuts({ onPalette, onHelp }: { onPalette(): void; onHelp(): void }): void {
  const [, navigate] = useLocation()
  const places = usePlaces()
  const went = useRef(0)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const key = letterOf(event)
      if (key === 'k' && (event.metaKey || event.ctrlKey) && !event.shiftKey && !event.altKey) {
        event.preventDefault()
        return onPalette()
      }
      const isPlain = !event.metaKey && !event.ctrlKey && !event.altKey && !event.isComposing
      if (!isPlain || isTyping(event.target) || isInDialog() || kept('shortcuts') === 'off') return
      if (key === '?' || key === '؟') return onHelp()
      const now = performance.now()
      if (key === 'g') went.current = now
      else if (now - went.current < THEN_MS) {
        went.current = 0
        const place = places.find(({ route }) => route.nav?.shortcut === key)
        if (place !== undefined) navigate(place.href)
      }
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [navigate, places, onPalette, onHelp])
}

const Key = ({ children }: { children: string }) => <kbd className="keycap">{children}</kbd>

/** `isHint`: shown on a button for the same action, and hidden from screen readers. */
export const PaletteKeys = ({ isHint = false }: { isHint?: boolean }) => (
  <span className="keys" dir="ltr" aria-hidden={isHint}>
    <Key>{isApple ? '⌘' : 'Ctrl'}</Key>
    <Key>K</Key>
  </span>
)

export function ShortcutHelp({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const texts = useShellTexts().shortcuts
  const places = usePlaces()
  const [isOn, setOn] = useState(kept('shortcuts') !== 'off')
  const turn = (on: boolean) => {
    setOn(on)
    keep('shortcuts', on ? undefined : 'off')
  }
  return (
    <Dialog title={texts.title} isOpen={isOpen} onClose={onClose}>
      <dl className="shortcut-list">
        <div>
          <dt>{texts.palette}</dt>
          <dd>
            <PaletteKeys />
          </dd>
        </div>
        <div>
          <dt>{texts.help}</dt>
          <dd>
            <Key>?</Key>
          </dd>
        </div>
        {places.map(({ route, label, href }) => (
          <div key={href}>
            <dt>{texts.go(label)}</dt>
            <dd>
              <span className="keys">
                <Key>G</Key>
                <span className="muted">{texts.thenKey}</span>
                <Key>{route.nav!.shortcut!.toUpperCase()}</Key>
              </span>
            </dd>
          </div>
        ))}
      </dl>
      <Switch label={texts.single} description={texts.singleText} isSelected={isOn} onChange={turn} />
    </Dialog>
  )
}
