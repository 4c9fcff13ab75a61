import { type Agent, useAgent, useDeleteAgent } from '../../queries/agents.ts'
import { useForgetAgent } from '../../shell/current-agent.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { useAgentTexts } from './texts.ts'

/** Asks for the name of an agent before it is deleted with all of its data. */
export function DeleteAgent({ agent, onClose, onDeleted }: { agent: Agent | undefined; onClose(): void; onDeleted?(): void }) {
  const texts = useAgentTexts().edit
  const { data } = useAgent(agent?.id)
  const remove = useDeleteAgent()
  const forgetAgent = useForgetAgent()
  if (agent === undefined) return null
  const { documents = 0, sessions = 0 } = data?.stats ?? {}
  return (
    <ConfirmDialog
      title={texts.deleteTitle(agent.name)}
      action={texts.delete}
      word={agent.name}
      isOpen
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync(agent.id)
        forgetAgent(agent.id)
        toast(texts.deleted(agent.name))
        onDeleted?.()
      }}
    >
      {texts.deleteText(texts.documents(documents), texts.sessions(sessions))}
    </ConfirmDialog>
  )
}
