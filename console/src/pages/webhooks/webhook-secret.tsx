import type { Webhook } from '../../queries/webhooks.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { SecretDialog } from '../parts/secret-dialog.tsx'
import { useWebhookTexts } from './texts.ts'

export interface Created {
  webhook: Webhook
  secret: string
}

const HOW = `import { Webhook } from 'standardwebhooks'

// The text of the body, before anything parsed it.
const event = new Webhook(process.env.WEBHOOK_SECRET).verify(body, request.headers)`

export function WebhookSecret({ created: { secret }, onClose }: { created: Created; onClose(): void }) {
  const texts = useWebhookTexts().secret
  return (
    <SecretDialog title={texts.title} label={texts.label} warning={texts.warning} secret={secret} onClose={onClose}>
      <div className="stack webhooks-how">
        <p className="field-label">{texts.how}</p>
        <CodeBlock label={texts.how} code={HOW} />
      </div>
    </SecretDialog>
  )
}
