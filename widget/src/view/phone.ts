/** Screens on which the chat fills the screen. */
const PHONE = matchMedia('(max-width: 480px)')

export const isPhone = (): boolean => PHONE.matches

/** Fits an element above a phone's keyboard, and calls back when the kind of screen changes. Returns a function that stops both. */
export function followScreen(element: HTMLElement, onChange: () => void): () => void {
  const view = window.visualViewport
  const fit = () => {
    // A pinch zoom must not be undone.
    if (view === null || !isPhone() || view.scale > 1.01) return
    element.style.setProperty('--_height', `${view.height}px`)
    element.style.setProperty('--_top', `${view.offsetTop}px`)
  }
  fit()
  PHONE.addEventListener('change', onChange)
  for (const event of ['resize', 'scroll']) view?.addEventListener(event, fit)
  return () => {
    PHONE.removeEventListener('change', onChange)
    for (const event of ['resize', 'scroll']) view?.removeEventListener(event, fit)
  }
}

/** Traps the Tab key in a chat that fills the screen, so that focus does not reach the page. */
export function keepFocus(event: KeyboardEvent, panel: HTMLElement): void {
  const stops = [...panel.querySelectorAll<HTMLElement>('button, a[href], summary, textarea, [tabindex="0"]')].filter(
    (element) => element.checkVisibility?.() !== false,
  )
  const [first, last] = [stops[0], stops.at(-1)]
  const focused = (panel.getRootNode() as ShadowRoot).activeElement
  const to = event.shiftKey ? (focused === first || focused === panel) && last : focused === last && first
  if (!to) return
  event.preventDefault()
  to.focus()
}
