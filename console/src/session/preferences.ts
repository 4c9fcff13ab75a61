/** Settings stored in this browser. They contain no secrets, and losing them does no harm. */
export type Preference = 'locale' | 'theme' | 'shortcuts' | 'first-steps'

const nameOf = (preference: Preference) => `repartee.${preference}`

// The browser may forbid storage.
export function kept(preference: Preference): string | undefined {
  try {
    return localStorage.getItem(nameOf(preference)) ?? undefined
  } catch {
    return undefined
  }
}

/** `undefined` removes the preference. */
export function keep(preference: Preference, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(nameOf(preference))
    else localStorage.setItem(nameOf(preference), value)
  } catch {
    // the preference lasts until the page is left
  }
}
