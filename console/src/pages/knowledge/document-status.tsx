import { type Document, type DocumentStatus, isUnfinished } from '../../queries/documents.ts'
import { Status, type Tone } from '../../ui/badge.tsx'
import { ProgressBar } from '../../ui/progress.tsx'
import { useKnowledgeTexts } from './texts.ts'

export const toneOf: Record<DocumentStatus, Tone> = { queued: 'neutral', processing: 'accent', ready: 'good', failed: 'bad' }

/** Shows the status and the progress of a document. */
export function DocumentState({ document }: { document: Pick<Document, 'title' | 'status' | 'progress'> }) {
  const texts = useKnowledgeTexts()
  const { status, progress, title } = document
  return (
    <span className="knowledge-state">
      <Status tone={toneOf[status]} isBusy={isUnfinished(document)}>
        {texts.status[status]}
      </Status>
      {status === 'processing' && <ProgressBar label={texts.reading(title)} value={progress} hidesLabel />}
    </span>
  )
}
