import { useState } from 'react'
import { useAddDocument } from '../../queries/documents.ts'
import { fieldErrors } from '../../queries/errors.ts'
import { TextField } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select } from '../../ui/select.tsx'
import { toast } from '../../ui/toast.tsx'
import { useTakesFocus } from '../../ui/use-media.ts'
import { useKnowledgeTexts } from './texts.ts'

type Kind = 'markdown' | 'text' | 'html'

/** Adds a document from typed or pasted text. */
export function AddText({ agentId, text, onClose }: { agentId: string; text: string; onClose(): void }) {
  const texts = useKnowledgeTexts().addText
  const takesFocus = useTakesFocus()
  const [title, setTitle] = useState('')
  const [kind, setKind] = useState<Kind>('markdown')
  const [body, setBody] = useState(text)
  const [isMissing, setMissing] = useState(false)
  const { mutate, isPending, error } = useAddDocument(agentId)
  const errors = fieldErrors(error)
  const submit = () => {
    setMissing(body.trim() === '')
    if (body.trim() === '') return
    const done = () => {
      toast(texts.done)
      onClose()
    }
    mutate({ ...(title.trim() !== '' && { title }), [kind]: body }, { onSuccess: done })
  }
  return (
    <FormDialog
      title={texts.title}
      action={texts.submit}
      onSubmit={submit}
      onClose={onClose}
      error={error}
      isBusy={isPending}
      width="40rem"
    >
      <TextField
        label={texts.body}
        value={body}
        onChange={setBody}
        rows={10}
        isRequired
        autoFocus={takesFocus}
        error={isMissing && body.trim() === '' ? texts.missing : errors[kind]}
      />
      <TextField label={texts.name} description={texts.nameText} value={title} onChange={setTitle} error={errors['title']} />
      <Select<Kind>
        label={texts.kind}
        value={kind}
        onChange={setKind}
        options={(['markdown', 'text', 'html'] as const).map((one) => ({ id: one, label: texts.kinds[one] }))}
      />
    </FormDialog>
  )
}
