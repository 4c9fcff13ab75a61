import { toFailure } from '../../queries/errors.ts'
import { type Delivery, useDeliveries, useRetryDelivery } from '../../queries/webhooks.ts'
import { useFormat } from '../../texts/format.ts'
import { Status, type Tone } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { toast } from '../../ui/toast.tsx'
import { useWebhookTexts } from './texts.ts'

const TONES: Record<Delivery['state'], Tone> = { waiting: 'accent', delivered: 'good', failed: 'bad' }

/** The deliveries of a webhook, with a retry action for each. */
export function DeliveryList({ webhookId }: { webhookId: string }) {
  const texts = useWebhookTexts().deliveries
  const { deliveries, total, isPending, isFetching, error, refetch, more } = useDeliveries(webhookId)
  const refresh = (
    <IconButton icon="refresh" label={texts.refresh} size="small" isPending={isFetching} onPress={() => void refetch()} />
  )
  return (
    <Card title={texts.title} description={texts.text} actions={refresh} isFlush>
      {error !== null && deliveries.length === 0 ? (
        <div className="card-body">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      ) : isPending ? (
        <SkeletonRows rows={4} />
      ) : (
        <Rows webhookId={webhookId} deliveries={deliveries} />
      )}
      {total !== undefined && total > 0 && <LoadMore {...more} />}
    </Card>
  )
}

function Rows({ webhookId, deliveries }: { webhookId: string; deliveries: readonly Delivery[] }) {
  const texts = useWebhookTexts().deliveries
  const uiTexts = useUiTexts()
  const format = useFormat()
  const retry = useRetryDelivery(webhookId)
  const again = ({ id }: Delivery) =>
    retry.mutateAsync(id).then(
      () => toast(texts.retried),
      (error) => toast(toFailure(error, uiTexts).message, { tone: 'bad' }),
    )
  const columns: Column<Delivery>[] = [
    { id: 'event', label: texts.event, cell: (delivery) => <What of={delivery} /> },
    { id: 'state', label: texts.state, width: '11rem', cell: (delivery) => <State of={delivery} /> },
    { id: 'answer', label: texts.answer, width: '6rem', cell: ({ responseStatus }) => responseStatus ?? texts.none },
    {
      id: 'attempts',
      label: texts.attempts,
      width: '6rem',
      isNumber: true,
      cell: ({ attempts }) => format.number(attempts),
    },
    {
      id: 'at',
      label: texts.at,
      width: '9rem',
      cell: ({ createdAt }) => (
        <time dateTime={createdAt} title={format.time(createdAt)} className="muted">
          {format.ago(createdAt)}
        </time>
      ),
    },
  ]
  return (
    <Table
      label={texts.title}
      columns={columns}
      rows={deliveries}
      idOf={({ id }) => id}
      nameOf={({ event }) => event}
      empty={
        <EmptyState icon="bell" title={texts.empty}>
          {texts.emptyText}
        </EmptyState>
      }
      actionsOf={(delivery) => (
        <IconButton
          icon="refresh"
          label={texts.retryOf(delivery.event, format.time(delivery.createdAt))}
          size="small"
          isPending={retry.isPending && retry.variables === delivery.id}
          onPress={() => void again(delivery)}
        />
      )}
    />
  )
}

function What({ of: { event, error } }: { of: Delivery }) {
  const texts = useWebhookTexts()
  return (
    <span className="parts-two">
      <code>{event}</code>
      <span className="muted parts-small webhooks-about">{texts.eventTexts[event]}</span>
      {error !== null && <span className="parts-small webhooks-error as-written">{error}</span>}
    </span>
  )
}

function State({ of: { state, nextAttemptAt } }: { of: Delivery }) {
  const texts = useWebhookTexts().deliveries
  const format = useFormat()
  const isDue = nextAttemptAt !== null && Date.parse(nextAttemptAt) <= Date.now()
  return (
    <span className="parts-two">
      <Status tone={TONES[state]} isBusy={state === 'waiting'}>
        {texts.states[state]}
      </Status>
      {nextAttemptAt !== null && (
        <span className="muted parts-small">{isDue ? texts.nextNow : texts.next(format.ago(nextAttemptAt))}</span>
      )}
    </span>
  )
}
