import './webhooks.css'
import { useState } from 'react'
import { useRoute } from 'wouter'
import { useWebhooks, type Webhook } from '../../queries/webhooks.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { DeleteWebhook } from './delete-webhook.tsx'
import { NewWebhook } from './new-webhook.tsx'
import { TestDialog, useTrial } from './test-dialog.tsx'
import { useWebhookTexts } from './texts.ts'
import { WebhookPage } from './webhook-page.tsx'
import { type Created, WebhookSecret } from './webhook-secret.tsx'
import { WebhookTable } from './webhook-table.tsx'

export default function Webhooks() {
  const [isOne, params] = useRoute<{ webhookId: string }>('/webhooks/:webhookId')
  return isOne ? <WebhookPage key={params.webhookId} webhookId={params.webhookId} /> : <WebhookList />
}

function WebhookList() {
  const texts = useWebhookTexts()
  const { webhooks, isPending, error, refetch } = useWebhooks()
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<Created>()
  const [leaving, setLeaving] = useState<Webhook>()
  const trial = useTrial()
  const create = (
    <Button look="primary" icon="plus" onPress={() => setCreating(true)}>
      {texts.create}
    </Button>
  )
  return (
    <Page title={texts.title} description={texts.description} actions={create}>
      <Card isFlush>
        {error !== null && webhooks.length === 0 ? (
          <div className="card-body">
            <ErrorNote error={error} onRetry={() => void refetch()} />
          </div>
        ) : isPending ? (
          <SkeletonRows rows={3} />
        ) : (
          <WebhookTable webhooks={webhooks} onTest={(webhook) => trial.start(webhook.id)} onDelete={setLeaving} />
        )}
      </Card>
      {isCreating && (
        <NewWebhook
          onClose={() => setCreating(false)}
          onCreated={(made) => {
            setCreating(false)
            setCreated(made)
          }}
        />
      )}
      {created !== undefined && <WebhookSecret created={created} onClose={() => setCreated(undefined)} />}
      <TestDialog trial={trial} />
      <DeleteWebhook webhook={leaving} onClose={() => setLeaving(undefined)} />
    </Page>
  )
}
