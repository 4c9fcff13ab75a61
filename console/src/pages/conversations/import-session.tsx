import { useState } from 'react'
import { FileTrigger } from 'react-aria-components/FileTrigger'
import { useLocation } from 'wouter'
import { type ImportedConversation, useImportSession } from '../../queries/conversations.ts'
import { fieldErrors } from '../../queries/errors.ts'
import { useFormat } from '../../texts/format.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Note } from '../../ui/note.tsx'
import { toast } from '../../ui/toast.tsx'
import { hrefOf } from './names.ts'
import { useConversationTexts } from './texts.ts'
import { fromJson } from './transcript.ts'

/** Imports a conversation from another system. */
export function ImportButton({ agentId }: { agentId: string }) {
  const texts = useConversationTexts().import
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button icon="upload" onPress={() => setOpen(true)}>
        {texts.action}
      </Button>
      {isOpen && <ImportDialog agentId={agentId} onClose={() => setOpen(false)} />}
    </>
  )
}

function ImportDialog({ agentId, onClose }: { agentId: string; onClose(): void }) {
  const texts = useConversationTexts().import
  const [, navigate] = useLocation()
  const { mutate, isPending, error, reset } = useImportSession(agentId)
  const [body, setBody] = useState<ImportedConversation>()
  const [isBad, setBad] = useState(false)
  const take = async (files: FileList | null) => {
    const [file] = files ?? []
    if (file === undefined) return
    const read = fromJson(await file.text().catch(() => ''))
    reset()
    setBody(read)
    setBad(read === undefined)
  }
  const submit = () => {
    if (body === undefined) return
    const { name, externalUserId, messages } = body
    const filled = {
      ...(name?.trim() && { name: name.trim() }),
      ...(externalUserId?.trim() && { externalUserId: externalUserId.trim() }),
    }
    mutate(
      { ...filled, messages },
      {
        onSuccess: ({ id }) => {
          toast(texts.done)
          onClose()
          navigate(hrefOf(agentId, id))
        },
      },
    )
  }
  const errors = fieldErrors(error)
  return (
    <FormDialog
      title={texts.title}
      action={texts.submit}
      onSubmit={submit}
      onClose={onClose}
      error={error}
      isBusy={isPending}
      isDisabled={body === undefined}
    >
      <p className="muted">{texts.text}</p>
      <div>
        <FileTrigger acceptedFileTypes={['application/json', '.json']} onSelect={(files) => void take(files)}>
          <Button icon="file">{body === undefined ? texts.choose : texts.change}</Button>
        </FileTrigger>
      </div>
      {isBad && (
        <Note tone="bad" isAlert>
          {texts.bad}
        </Note>
      )}
      {body !== undefined && (
        <>
          <Found messages={body.messages} />
          <TextField
            label={texts.name}
            description={texts.nameText}
            value={body.name ?? ''}
            error={errors['name']}
            onChange={(name) => setBody({ ...body, name })}
          />
          <TextField
            label={texts.user}
            description={texts.userText}
            value={body.externalUserId ?? ''}
            error={errors['externalUserId']}
            isCode
            onChange={(externalUserId) => setBody({ ...body, externalUserId })}
          />
        </>
      )}
    </FormDialog>
  )
}

/** Summary of the file: number of messages, their time span, and the first message. */
function Found({ messages }: { messages: ImportedConversation['messages'] }) {
  const texts = useConversationTexts().import
  const format = useFormat()
  const times = messages.flatMap(({ createdAt }) => (Number.isNaN(Date.parse(createdAt ?? '')) ? [] : [createdAt!]))
  const [first, last] = [times[0], times.at(-1)]
  return (
    <div className="conversations-found">
      <strong>{texts.found(messages.length)}</strong>
      {first !== undefined && last !== undefined && (
        <span className="muted">
          {format.time(first)} – {format.time(last)}
        </span>
      )}
      <p className="muted clip as-written">{String(messages[0]?.content ?? '').slice(0, 200)}</p>
    </div>
  )
}
