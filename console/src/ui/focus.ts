/**
 * Where what had the focus is gone, or cannot have it any more, reading and typing go on elsewhere instead of at the beginning of the page.
 * It is looked at when all that follows has been drawn, and what gives the focus back has done so.
 */
export function focusIfLost(find: () => HTMLElement | null | undefined): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) find()?.focus({ preventScroll: true })
    }),
  )
}
