// Runs before the page is shown, so that it does not flash in the wrong colours. The console uses the same storage key.
;(() => {
  const root = document.documentElement
  root.classList.add('js')
  try {
    const theme = localStorage.getItem('repartee.theme')
    if (theme === 'light' || theme === 'dark') root.dataset['theme'] = theme
  } catch {
    // Storage may be forbidden. The system's theme then applies.
  }
})()
