import { useUiTexts } from './texts.ts'
import { toast } from './toast.tsx'

/** Copies a text and shows a toast. Resolves to whether it was copied: browsers do not allow it on pages without HTTPS. */
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
