import type { Key } from '../../queries/keys.ts'
import { useSignedIn } from '../../session/session.tsx'
import { useFormat } from '../../texts/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { useCopy } from '../../ui/copy.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { AgentNames } from '../parts/agent-names.tsx'
import { KeyBudget } from './key-budget.tsx'
import { useKeyTexts } from './texts.ts'

interface KeyTableProps {
  keys: readonly Key[]
  onRoll(key: Key): void
  onRevoke(key: Key): void
}

export function KeyTable({ keys, onRoll, onRevoke }: KeyTableProps) {
  const texts = useKeyTexts()
  const copy = useCopy()
  const { columns: names } = texts
  const columns: Column<Key>[] = [
    { id: 'name', label: names.name, cell: (key) => <Name of={key} />, width: '24%' },
    { id: 'scopes', label: names.scopes, cell: (key) => <Scopes of={key} />, width: '8rem' },
    { id: 'agents', label: names.agents, cell: ({ agentIds }) => <AgentNames agentIds={agentIds} />, width: '10rem' },
    { id: 'used', label: names.used, cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} none={texts.never} />, width: '8rem' },
    { id: 'expires', label: names.expires, cell: (key) => <Expiry of={key} />, width: '7rem' },
    { id: 'budget', label: names.budget, cell: (key) => <KeyBudget of={key} />, width: '10rem' },
  ]
  return (
    <Table
      label={texts.title}
      columns={columns}
      rows={keys}
      idOf={({ id }) => id}
      nameOf={({ name }) => name}
      empty={
        <EmptyState icon="keys" title={texts.empty}>
          {texts.emptyText}
        </EmptyState>
      }
      actionsOf={(key) => (
        <MoreMenu label={texts.actions(key.name)}>
          <MenuItem icon="refresh" onAction={() => onRoll(key)}>
            {texts.roll.action}
          </MenuItem>
          <MenuItem icon="copy" onAction={() => void copy(key.id)}>
            {texts.copyId}
          </MenuItem>
          <MenuLine />
          <MenuItem icon="trash" isDanger onAction={() => onRevoke(key)}>
            {texts.revoke.action}
          </MenuItem>
        </MoreMenu>
      )}
    />
  )
}

function Name({ of: { name, prefix } }: { of: Key }) {
  const texts = useKeyTexts()
  const signedIn = useSignedIn()
  return (
    <span className="parts-two keys-name">
      <span className="row">
        <span className="as-written">{name}</span>
        {prefix === signedIn.prefix && <Badge tone="accent">{texts.yours}</Badge>}
      </span>
      <code className="muted" dir="ltr">
        {prefix}…
      </code>
    </span>
  )
}

function Scopes({ of: { scopes } }: { of: Key }) {
  const texts = useKeyTexts().scopes
  return (
    <span className="row" style={{ '--gap': '0.25rem' } as React.CSSProperties}>
      {scopes.map((scope) => (
        <Badge key={scope} tone={scope === 'admin' ? 'warn' : 'neutral'}>
          {texts[scope]}
        </Badge>
      ))}
    </span>
  )
}

function Moment({ at, none }: { at: string | null; none: string }) {
  const format = useFormat()
  if (at === null) return <span className="muted">{none}</span>
  return (
    <time dateTime={at} title={format.time(at)} className="muted">
      {format.ago(at)}
    </time>
  )
}

function Expiry({ of: { expiresAt } }: { of: Key }) {
  const texts = useKeyTexts()
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now())
    return (
      <span>
        <Badge tone="bad">{texts.expired}</Badge>
      </span>
    )
  return <Moment at={expiresAt} none={texts.never} />
}
