import { type Document, useReplaceDocument } from '../../queries/documents.ts'
import { toFailure } from '../../queries/errors.ts'
import { useUiTexts } from '../../ui/texts.ts'
import { toast } from '../../ui/toast.tsx'
import { useKnowledgeTexts } from './texts.ts'

/** Fetches the web page of a document again. */
export function useFetchAgain(agentId: string) {
  const texts = useKnowledgeTexts().document
  const uiTexts = useUiTexts()
  const { mutateAsync, isPending } = useReplaceDocument(agentId)
  const fetchAgain = async (document: Document) => {
    const { url } = document.source
    if (url === undefined) return
    try {
      await mutateAsync({ document, by: { url } })
      toast(texts.replaced)
    } catch (error) {
      toast(toFailure(error, uiTexts).message, { tone: 'bad' })
    }
  }
  return { fetchAgain, isPending }
}
