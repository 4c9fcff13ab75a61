/** Where the chat fills the screen. */
const PHONE = matchMedia('(max-width: 480px)')

export const isPhone = (): boolean => PHONE.matches

/** Keeps an element as high as what is left above the keyboard of a phone, and tells when the kind of screen changes. Returns what ends that. */
export function followScreen(element: HTMLElement, onChange: () => void): () => void {
  const view = window.visualViewport
  const fit = () => {
    // What is enlarged by two fingers is to be enlarged, and not fitted in again.
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

/** Where a chat fills the screen, the page behind it is not reached by Tab. */
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
