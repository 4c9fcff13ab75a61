import { useSyncExternalStore } from 'react'

/** Whether a media query matches, for differences that CSS cannot make, such as another position in the document. */
export const useMedia = (query: string): boolean =>
  useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => matchMedia(query).matches,
  )

/** Whether the first field of a form takes the focus. Not on a phone: its keyboard would cover a part of the form. */
export const useTakesFocus = (): boolean => !useMedia('(pointer: coarse)')
