import type { Key } from '../../queries/keys.ts'
import { useFormat } from '../../texts/format.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { SecretDialog } from '../parts/secret-dialog.tsx'
import { useKeyTexts } from './texts.ts'

/** A key that was just created or rolled. */
export interface Issued {
  key: Key
  secret: string
  /** Expiry of the replaced key, in milliseconds since 1970. */
  oldEndsAt?: number
}

export function KeySecret({ issued: { key, secret, oldEndsAt }, onClose }: { issued: Issued; onClose(): void }) {
  const texts = useKeyTexts().secret
  const format = useFormat()
  const title = oldEndsAt === undefined ? texts.created(key.name) : texts.rolled(key.name)
  return (
    <SecretDialog title={title} label={texts.label} warning={texts.warning} secret={secret} onClose={onClose}>
      {oldEndsAt !== undefined && (
        <p className="muted">{oldEndsAt <= Date.now() ? texts.oldEnded : texts.oldUntil(format.time(oldEndsAt))}</p>
      )}
      <div className="stack" style={{ '--gap': '0.3rem' } as React.CSSProperties}>
        <p className="field-label">{texts.curl}</p>
        <CodeBlock label={texts.curl} code={`curl -s ${location.origin}/v1/agents \\\n  -H "X-API-Key: ${secret}"`} />
      </div>
    </SecretDialog>
  )
}
