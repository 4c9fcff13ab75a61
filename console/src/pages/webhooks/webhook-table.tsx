import type { Webhook } from '../../queries/webhooks.ts'
import { Status } from '../../ui/badge.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { AgentNames } from '../parts/agent-names.tsx'
import { EVENTS } from './events.ts'
import { useWebhookTexts } from './texts.ts'

interface WebhookTableProps {
  webhooks: readonly Webhook[]
  onTest(webhook: Webhook): void
  onDelete(webhook: Webhook): void
}

export function WebhookTable({ webhooks, onTest, onDelete }: WebhookTableProps) {
  const texts = useWebhookTexts()
  const columns: Column<Webhook>[] = [
    { id: 'url', label: texts.columns.url, cell: ({ url }) => <bdi dir="ltr">{url}</bdi> },
    {
      id: 'events',
      label: texts.columns.events,
      width: '20%',
      cell: ({ events }) => (
        <span className="muted" title={events.join(', ')}>
          {events.length === 1 ? (
            <code>{events[0]}</code>
          ) : events.length === EVENTS.length ? (
            texts.allEvents
          ) : (
            texts.events(events.length)
          )}
        </span>
      ),
    },
    { id: 'agents', label: texts.columns.agents, width: '13rem', cell: ({ agentIds }) => <AgentNames agentIds={agentIds} /> },
    { id: 'state', label: texts.columns.state, width: '8rem', cell: (webhook) => <WebhookState of={webhook} /> },
  ]
  return (
    <Table
      label={texts.title}
      columns={columns}
      rows={webhooks}
      idOf={({ id }) => id}
      nameOf={({ url }) => url}
      hrefOf={({ id }) => `/webhooks/${id}`}
      empty={
        <EmptyState icon="bell" title={texts.empty}>
          {texts.emptyText}
        </EmptyState>
      }
      actionsOf={(webhook) => (
        <MoreMenu label={texts.actions(webhook.url)}>
          <MenuItem icon="send" onAction={() => onTest(webhook)}>
            {texts.test.action}
          </MenuItem>
          <MenuLine />
          <MenuItem icon="trash" isDanger onAction={() => onDelete(webhook)}>
            {texts.remove.action}
          </MenuItem>
        </MoreMenu>
      )}
    />
  )
}

export function WebhookState({ of: { disabledAt } }: { of: Webhook }) {
  const texts = useWebhookTexts()
  return <Status tone={disabledAt === null ? 'good' : 'bad'}>{disabledAt === null ? texts.active : texts.disabled}</Status>
}
