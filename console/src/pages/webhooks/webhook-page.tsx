import { useState } from 'react'
import { useWebhooks, type Webhook } from '../../queries/webhooks.ts'
import { useGoOn } from '../../routing/go-on.ts'
import { useFormat } from '../../texts/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { BackLink } from '../../ui/link.tsx'
import { Note } from '../../ui/note.tsx'
import { Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { AgentNames } from '../parts/agent-names.tsx'
import { DeleteWebhook } from './delete-webhook.tsx'
import { DeliveryList } from './delivery-list.tsx'
import { TestDialog, useTrial } from './test-dialog.tsx'
import { useWebhookTexts } from './texts.ts'
import { WebhookState } from './webhook-table.tsx'

/** One webhook with its deliveries. The service can only list webhooks, and never returns more than one page of them. */
export function WebhookPage({ webhookId }: { webhookId: string }) {
  const texts = useWebhookTexts()
  const { webhooks, isPending, error, refetch } = useWebhooks()
  const goOn = useGoOn()
  const webhook = webhooks.find(({ id }) => id === webhookId)
  if (webhook !== undefined) return <Found webhook={webhook} onDeleted={() => goOn('/webhooks')} />
  return (
    <Page title={texts.title} above={<Back />}>
      <Card isFlush>
        {isPending ? (
          <SkeletonRows rows={4} />
        ) : error !== null ? (
          <div className="card-body">
            <ErrorNote error={error} onRetry={() => void refetch()} />
          </div>
        ) : (
          <EmptyState icon="bell" title={texts.gone.title} actions={<LinkButton href="/webhooks">{texts.gone.all}</LinkButton>}>
            {texts.gone.text}
          </EmptyState>
        )}
      </Card>
    </Page>
  )
}

function Back() {
  const texts = useWebhookTexts()
  return <BackLink href="/webhooks">{texts.title}</BackLink>
}

/** The webhook may disappear from the list before its deletion is confirmed. */
function Found({ webhook, onDeleted }: { webhook: Webhook; onDeleted(): void }) {
  const texts = useWebhookTexts()
  const [isLeaving, setLeaving] = useState(false)
  const trial = useTrial()
  const actions = (
    <>
      <Button icon="trash" onPress={() => setLeaving(true)}>
        {texts.remove.action}
      </Button>
      <Button look="primary" icon="send" onPress={() => trial.start(webhook.id)}>
        {texts.test.action}
      </Button>
    </>
  )
  return (
    <Page title={webhook.url} of={texts.title} above={<Back />} actions={actions}>
      {webhook.disabledAt !== null && <Off at={webhook.disabledAt} />}
      <Facts of={webhook} />
      <DeliveryList webhookId={webhook.id} />
      <TestDialog trial={trial} />
      <DeleteWebhook webhook={isLeaving ? webhook : undefined} onClose={() => setLeaving(false)} onDeleted={onDeleted} />
    </Page>
  )
}

function Off({ at }: { at: string }) {
  const texts = useWebhookTexts().off
  const format = useFormat()
  return (
    <Note tone="warn" title={texts.title}>
      <p>{texts.text(format.ago(at))}</p>
    </Note>
  )
}

function Facts({ of }: { of: Webhook }) {
  const texts = useWebhookTexts()
  return (
    <Card>
      <dl className="facts">
        <div>
          <dt>{texts.columns.state}</dt>
          <dd>
            <WebhookState of={of} />
          </dd>
        </div>
        <div>
          <dt>{texts.columns.agents}</dt>
          <dd>
            <AgentNames agentIds={of.agentIds} />
          </dd>
        </div>
        <div>
          <dt>{texts.columns.events}</dt>
          <dd className="row">
            {of.events.map((event) => (
              <Badge key={event}>{event}</Badge>
            ))}
          </dd>
        </div>
      </dl>
    </Card>
  )
}
