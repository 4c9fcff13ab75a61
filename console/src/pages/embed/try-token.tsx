import { useState } from 'react'
import { useCreateToken } from '../../queries/tokens.ts'
import { newUuid } from '../../queries/uuid.ts'
import { useFormat } from '../../texts/format.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { createSession, type Place } from './snippets.ts'
import { useEmbedTexts } from './texts.ts'

/** Creates a token for a random user, as an example. */
export function TryToken({ place }: { place: Place }) {
  const texts = useEmbedTexts().token
  const format = useFormat()
  const [userId] = useState(newUuid)
  const { mutate, data, error, isPending } = useCreateToken(place.agentId)
  const create = (
    <Button icon="keys" isBusy={isPending} onPress={() => mutate(userId)}>
      {data === undefined ? texts.create : texts.again}
    </Button>
  )
  return (
    <Card title={texts.title} description={texts.text} actions={create} {...(!data && !error && { className: 'embed-closed' })}>
      {error !== null && <ErrorNote error={error} />}
      {data !== undefined && (
        <div className="stack" role="status">
          <CodeBlock code={data.token} label={texts.label} />
          <p className="muted">
            {texts.user} <code dir="ltr">{userId}</code>. {texts.ends(format.time(data.expiresAt))}
          </p>
          <CodeBlock code={createSession(place, data.token)} label={texts.curl} />
        </div>
      )}
    </Card>
  )
}
