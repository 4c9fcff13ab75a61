import { toFailure } from '../queries/errors.ts'
import { Button } from './button.tsx'
import { Note } from './note.tsx'
import { useUiTexts } from './texts.ts'

/** Shows an error with all details that help another person to find the cause. */
export function ErrorNote({
  error,
  title,
  onRetry,
  hidesDetails = false,
}: {
  error: unknown
  title?: string
  onRetry?(): void
  /** The fields show the details. */
  hidesDetails?: boolean
}) {
  const texts = useUiTexts()
  const { code, message, requestId, details } = toFailure(error, texts)
  const actions = onRetry && (
    <Button size="small" icon="refresh" onPress={onRetry}>
      {texts.tryAgain}
    </Button>
  )
  return (
    <Note tone="bad" isAlert {...(title !== undefined && { title })} {...(actions && { actions })}>
      <p className="as-written">{message}</p>
      {!hidesDetails && details.length > 0 && (
        <ul>
          {details.map((detail) => (
            <li key={`${detail.path} ${detail.message}`}>
              <code>{detail.path}</code> {detail.message}
            </li>
          ))}
        </ul>
      )}
      <dl className="note-facts">
        <div>
          <dt>{texts.code}</dt>
          <dd className="mono">{code}</dd>
        </div>
        {requestId !== undefined && (
          <div>
            <dt>{texts.requestId}</dt>
            <dd className="mono">{requestId}</dd>
          </div>
        )}
      </dl>
    </Note>
  )
}
