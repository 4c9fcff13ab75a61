import { useId, useState } from 'react'
import { useAddDocument } from '../../queries/documents.ts'
import { fieldErrors } from '../../queries/errors.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { TextField } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { toast } from '../../ui/toast.tsx'
import { useKnowledgeTexts } from './texts.ts'

type Kind = 'markdown' | 'text' | 'html'

/** A document that is typed or pasted. */
export function AddText({ agentId, text, onClose }: { agentId: string; text: string; onClose(): void }) {
  const texts = useKnowledgeTexts().addText
  const { cancel } = useUiTexts()
  const id = useId()
  const [title, setTitle] = useState('')
  const [kind, setKind] = useState<Kind>('markdown')
  const [body, setBody] = useState(text)
  const [isMissing, setMissing] = useState(false)
  const { mutateAsync, isPending, error } = useAddDocument(agentId)
  const errors = fieldErrors(error)
  const submit = async () => {
    setMissing(body.trim() === '')
    if (body.trim() === '' || isPending) return
    const added = await mutateAsync({ ...(title.trim() !== '' && { title }), [kind]: body }).catch(() => undefined)
    if (added === undefined) return
    toast(texts.done)
    onClose()
  }
  const actions = (
    <>
      <Button onPress={onClose}>{cancel}</Button>
      <Button look="primary" type="submit" form={id} isBusy={isPending}>
        {texts.submit}
      </Button>
    </>
  )
  return (
    <Dialog title={texts.title} isOpen onClose={onClose} actions={actions} width="40rem" isUrgent={isPending}>
      <form
        id={id}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextField
          label={texts.body}
          value={body}
          onChange={setBody}
          rows={10}
          isRequired
          autoFocus
          error={isMissing && body.trim() === '' ? texts.missing : errors[kind]}
        />
        <TextField label={texts.name} description={texts.nameText} value={title} onChange={setTitle} error={errors['title']} />
        <Select<Kind>
          label={texts.kind}
          value={kind}
          onChange={setKind}
          options={(['markdown', 'text', 'html'] as const).map((one) => ({ id: one, label: texts.kinds[one] }))}
        />
      </form>
      {error !== null && <ErrorNote error={error} />}
    </Dialog>
  )
}
