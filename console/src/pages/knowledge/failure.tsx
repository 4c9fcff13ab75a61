import { useKnowledgeTexts } from './texts.ts'

type Reason = keyof ReturnType<typeof useKnowledgeTexts>['reasons']

interface FailureProps {
  error: { code: string; message: string }
  /** Without the words of the service, where there are some of our own: for lists. */
  isShort?: boolean
}

/** Why a document or a source failed, and what helps. The service says it in more words, which are kept. */
export function Failure({ error, isShort = false }: FailureProps) {
  const texts = useKnowledgeTexts()
  const isKnown = error.code in texts.reasons
  return (
    <span className="knowledge-reason">
      {isKnown && `${texts.reasons[error.code as Reason]} ${texts.advice[error.code as Reason]} `}
      {!(isKnown && isShort) && (
        <span className="muted">
          {texts.serviceSays} <bdi>{error.message}</bdi>
        </span>
      )}
    </span>
  )
}
