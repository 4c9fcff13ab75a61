import { useMemo, useState } from 'react'
import type { PageProps } from '../../routing/routes.tsx'
import { AddText } from './add-text.tsx'
import { AddWeb } from './add-web.tsx'
import { DocumentList } from './document-list.tsx'
import { type Added, Intake } from './intake.tsx'
import { UploadsPanel } from './uploads-panel.tsx'

/** The documents of an agent, and all ways to add one. */
export function DocumentsTab({ agentId }: PageProps) {
  const [adding, setAdding] = useState<Added>()
  const close = () => setAdding(undefined)
  const list = useMemo(() => <DocumentList agentId={agentId} />, [agentId])
  return (
    <div className="stack">
      <Intake agentId={agentId} onAdd={setAdding} />
      {list}
      <UploadsPanel agentId={agentId} />
      {adding?.what === 'text' && <AddText agentId={agentId} text={adding.text} onClose={close} />}
      {adding?.what === 'web' && <AddWeb agentId={agentId} urls={adding.text} onClose={close} />}
    </div>
  )
}
