import { useSyncExternalStore } from 'react'

/** Whether a media query holds, for what has to be somewhere else and not only look otherwise. */
export const useMedia = (query: string): boolean =>
  useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => matchMedia(query).matches,
  )

/** Whether the first field of a form takes the focus: with the keyboard of a phone in its way the form would not be seen as a whole. */
export const useTakesFocus = (): boolean => !useMedia('(pointer: coarse)')
