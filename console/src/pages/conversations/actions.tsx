import { useState } from 'react'
import { useAgentName } from '../../queries/agents.ts'
import { type SessionHead, useRenameSession } from '../../queries/conversations.ts'
import { fieldErrors, toFailure } from '../../queries/errors.ts'
import { useGoOn } from '../../routing/go-on.ts'
import { useClient, useRights } from '../../session/session.tsx'
import { useFormat } from '../../texts/format.ts'
import { Button } from '../../ui/button.tsx'
import { useCopy } from '../../ui/copy.ts'
import { download } from '../../ui/download.ts'
import { TextField } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Menu, MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { toast } from '../../ui/toast.tsx'
import { DeleteSession } from './delete-session.tsx'
import { addressOf, hrefOf, nameOf } from './names.ts'
import { useConversationTexts } from './texts.ts'
import { toJson, toMarkdown } from './transcript.ts'

interface Props {
  agentId: string
  head: SessionHead
  userId: string | undefined
  /** Address of the list, which opens after the conversation is deleted. */
  list: string
}

/** Actions on a whole conversation. */
export function ConversationActions({ agentId, head, userId, list }: Props) {
  const texts = useConversationTexts()
  const format = useFormat()
  const rights = useRights()
  const goOn = useGoOn()
  const { save, isBusy } = useExport(agentId, head, userId)
  const [open, setOpen] = useState<'rename' | 'delete'>()
  const close = () => setOpen(undefined)
  const copy = useCopy()
  const share = () => void copy(addressOf(hrefOf(agentId, head.id)), texts.list.linkCopied)
  return (
    <>
      <Menu
        label={texts.one.export}
        trigger={
          <Button icon="download" isBusy={isBusy}>
            {texts.one.export}
          </Button>
        }
      >
        <MenuItem icon="code" onAction={() => void save('json')}>
          {texts.one.exportJson}
        </MenuItem>
        <MenuItem icon="file" onAction={() => void save('md')}>
          {texts.one.exportMarkdown}
        </MenuItem>
      </Menu>
      <MoreMenu label={texts.one.more}>
        <MenuItem icon="copy" onAction={share}>
          {texts.one.share}
        </MenuItem>
        {rights.can('chat') && (
          <MenuItem icon="edit" onAction={() => setOpen('rename')}>
            {texts.one.rename}
          </MenuItem>
        )}
        {rights.can('chat') && <MenuLine />}
        {rights.can('chat') && (
          <MenuItem icon="trash" isDanger onAction={() => setOpen('delete')}>
            {texts.one.delete}
          </MenuItem>
        )}
      </MoreMenu>
      {open === 'rename' && <RenameDialog agentId={agentId} head={head} onClose={close} />}
      <DeleteSession
        agentId={agentId}
        sessionId={head.id}
        name={nameOf(head.name, format)}
        isOpen={open === 'delete'}
        onClose={close}
        onDeleted={() => goOn(list)}
      />
    </>
  )
}

/** Exports the whole conversation to a file, in the browser. */
function useExport(agentId: string, { id, name }: SessionHead, userId: string | undefined) {
  const texts = useConversationTexts()
  const uiTexts = useUiTexts()
  const client = useClient()
  const agent = useAgentName(agentId) ?? 'AI'
  const [isBusy, setBusy] = useState(false)
  const save = async (form: 'json' | 'md') => {
    setBusy(true)
    try {
      const { messages } = await client.sessions.get({ agentId, sessionId: id })
      const whole = messages.map((message) => ({ ...message, type: 'TEXT' as const }))
      if (form === 'json') download(name, form, toJson(name, userId, whole), 'application/json')
      else download(name, form, toMarkdown(name, whole, { USER: texts.message.user, AI: agent }), 'text/markdown')
      toast(texts.one.exported)
    } catch (error) {
      toast(toFailure(error, uiTexts).message, { tone: 'bad' })
    } finally {
      setBusy(false)
    }
  }
  return { save, isBusy }
}

function RenameDialog({ agentId, head, onClose }: { agentId: string; head: SessionHead; onClose(): void }) {
  const texts = useConversationTexts().one
  const [name, setName] = useState(head.name)
  const { mutate, isPending, error } = useRenameSession(agentId, head.id)
  const save = () =>
    mutate(name.trim(), {
      onSuccess: () => {
        toast(texts.renamed)
        onClose()
      },
    })
  const own = fieldErrors(error)['name']
  return (
    <FormDialog
      title={texts.renameTitle}
      action={texts.save}
      onSubmit={save}
      onClose={onClose}
      error={own === undefined ? error : undefined}
      isBusy={isPending}
    >
      <TextField label={texts.name} value={name} onChange={setName} error={own} autoFocus autoComplete="off" />
    </FormDialog>
  )
}
