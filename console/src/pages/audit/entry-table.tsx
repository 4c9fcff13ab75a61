import type { AuditEntry } from '../../queries/audit.ts'
import { useKeys } from '../../queries/keys.ts'
import { useFormat } from '../../texts/format.ts'
import { Status } from '../../ui/badge.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { AgentNames } from '../parts/agent-names.tsx'
import { useAuditTexts } from './texts.ts'

export function EntryTable({ entries }: { entries: readonly AuditEntry[] }) {
  const texts = useAuditTexts()
  const format = useFormat()
  const columns: Column<AuditEntry>[] = [
    { id: 'action', label: texts.columns.action, cell: (entry) => <Act of={entry} /> },
    {
      id: 'at',
      label: texts.columns.at,
      width: '11rem',
      cell: ({ at }) => (
        <time dateTime={at} title={at} className="muted">
          {format.time(at)}
        </time>
      ),
    },
    { id: 'key', label: texts.columns.key, width: '12rem', cell: ({ keyId }) => <KeyName keyId={keyId} /> },
    {
      id: 'agent',
      label: texts.columns.agent,
      width: '12rem',
      cell: ({ agentId }) =>
        agentId === null ? <span className="muted">{texts.none}</span> : <AgentNames agentIds={[agentId]} />,
    },
    {
      id: 'address',
      label: texts.columns.address,
      width: '6rem',
      isMinor: true,
      cell: ({ address }) => <bdi className="muted">{address ?? texts.none}</bdi>,
    },
    { id: 'outcome', label: texts.columns.outcome, width: '6rem', cell: (entry) => <Outcome of={entry} /> },
  ]
  return (
    <Table
      label={texts.title}
      columns={columns}
      rows={entries}
      idOf={({ id }) => id}
      nameOf={({ action }) => action}
      empty={
        <EmptyState icon="clock" title={texts.empty}>
          {texts.emptyText}
        </EmptyState>
      }
    />
  )
}

function Act({ of: { action, target } }: { of: AuditEntry }) {
  const { actions } = useAuditTexts()
  return (
    <span className="parts-two">
      <span>{(actions as Record<string, string>)[action] ?? action}</span>
      {target !== null && (
        <code className="muted audit-target" dir="ltr" title={target}>
          {target}
        </code>
      )}
    </span>
  )
}

/** Shows the name of a key if the key still exists. */
function KeyName({ keyId }: { keyId: string | null }) {
  const texts = useAuditTexts()
  const { keys } = useKeys()
  if (keyId === null) return <span className="muted">{texts.local}</span>
  const key = keys.find(({ id }) => id === keyId)
  return (
    <span className="audit-key as-written" title={keyId}>
      {key?.name ?? <code dir="ltr">{keyId.slice(0, 8)}…</code>}
    </span>
  )
}

function Outcome({ of: { status } }: { of: AuditEntry }) {
  const texts = useAuditTexts()
  if (status === null) return <Status tone="warn">{texts.cutOff}</Status>
  if (status < 400) return <Status tone="good">{texts.done}</Status>
  return <Status tone="bad">{status < 500 ? texts.refused(status) : texts.failed(status)}</Status>
}
