// Runs before anything is shown, so that no page flashes in the wrong colours. The console keeps the choice under the same name.
;(() => {
  const root = document.documentElement
  root.classList.add('js')
  try {
    const theme = localStorage.getItem('repartee.theme')
    if (theme === 'light' || theme === 'dark') root.dataset['theme'] = theme
  } catch {
    // Storage may be forbidden: the machine's own theme holds.
  }
})()
