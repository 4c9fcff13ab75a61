import { useSyncExternalStore } from 'react'
import { keep, kept } from './preferences.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const listeners = new Set<() => void>()
let theme: Theme = themes.find((name) => name === kept('theme')) ?? 'system'

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Applies and stores a theme. `system` follows the theme of the operating system and is the default. */
export function applyTheme(next: Theme = theme): void {
  theme = next
  keep('theme', next === 'system' ? undefined : next)
  if (next === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = next
  for (const listener of listeners) listener()
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => theme)
