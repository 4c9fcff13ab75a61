import { useUiTexts } from './texts.ts'
import { toast } from './toast.tsx'

/** Copies a text, and says so: as told, or plainly. Resolves to whether it is copied; pages that did not come by https may not do it. */
export function useCopy(): (text: string, said?: string) => Promise<boolean> {
  const texts = useUiTexts()
  return async (text, said = texts.copied) => {
    try {
      await navigator.clipboard.writeText(text)
      toast(said)
      return true
    } catch {
      toast(texts.copyFailed, { tone: 'bad' })
      return false
    }
  }
}
