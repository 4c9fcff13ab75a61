import './toast.css'
import { useSyncExternalStore } from 'react'
import { IconButton } from './button.tsx'
import { Icon } from './icon.tsx'
import { useUiTexts } from './texts.ts'

interface Toast {
  id: number
  text: string
  tone: 'good' | 'bad'
}

const SHOWN_MS = 6_000
/** Errors need more time to read. */
const SHOWN_BAD_MS = 12_000
const MOST = 3

let toasts: readonly Toast[] = []
let last = 0
const listeners = new Set<() => void>()

function show(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

const dismiss = (id: number) => show(toasts.filter((one) => one.id !== id))

/** Shows a short message that something was done. Content that must be read or acted on belongs on the page. */
export function toast(text: string, { tone = 'good' }: { tone?: Toast['tone'] } = {}): void {
  const id = ++last
  show([...toasts.filter((one) => one.text !== text), { id, text, tone }].slice(-MOST))
  setTimeout(() => dismiss(id), tone === 'bad' ? SHOWN_BAD_MS : SHOWN_MS)
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The toast area, once for the whole console. It is always mounted, because screen readers announce only changes of an existing area. */
export function Toasts() {
  const texts = useUiTexts()
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <section className="toasts" aria-label={texts.notifications}>
      <div role="status" aria-live="polite" aria-atomic="false" aria-relevant="additions" className="toast-list">
        {shown.map(({ id, text, tone }) => (
          <div key={id} className={`toast toast-${tone}`}>
            <Icon name={tone === 'bad' ? 'warning' : 'good'} size={17} />
            <span className="toast-text as-written">{text}</span>
            <IconButton icon="close" label={texts.dismiss} size="small" onPress={() => dismiss(id)} />
          </div>
        ))}
      </div>
    </section>
  )
}
