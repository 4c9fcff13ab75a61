import { useKnowledgeTexts } from './texts.ts'

type Reason = keyof ReturnType<typeof useKnowledgeTexts>['reasons']

interface FailureProps {
  error: { code: string; message: string }
  /** Hides the message of the service if the console has its own text for the error; for lists. */
  isShort?: boolean
}

/** Shows why a document or a source failed, and what helps. Adds the message of the service, which has more details. */
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
