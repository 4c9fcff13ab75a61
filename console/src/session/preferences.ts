/** What a reader picked for this browser: no secret, and nothing that cannot be lost. */
export type Preference = 'locale' | 'theme' | 'shortcuts' | 'first-steps'

const nameOf = (preference: Preference) => `repartee.${preference}`

// Storage may be forbidden altogether.
export function kept(preference: Preference): string | undefined {
  try {
    return localStorage.getItem(nameOf(preference)) ?? undefined
  } catch {
    return undefined
  }
}

/** `undefined` forgets it. */
export function keep(preference: Preference, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(nameOf(preference))
    else localStorage.setItem(nameOf(preference), value)
  } catch {
    // it holds until the page is left
  }
}
