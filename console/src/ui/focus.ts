/** Moves a lost focus, which would restart at the top of the page. Waits two frames for rendering, and for components that restore the focus. */
export function focusIfLost(find: () => HTMLElement | null | undefined): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) find()?.focus({ preventScroll: true })
    }),
  )
}
