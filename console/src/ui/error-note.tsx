import { toFailure } from '../queries/errors.ts'
import { Button } from './button.tsx'
import { Note } from './note.tsx'
import { useUiTexts } from './texts.ts'

/** What went wrong, with all that helps somebody else to find out why. */
export function ErrorNote({
  error,
  title,
  onRetry,
  hidesDetails = false,
}: {
  error: unknown
  title?: string
  onRetry?(): void
  /** They stand at their fields. */
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
