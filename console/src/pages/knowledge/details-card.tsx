import { useRef, useState } from 'react'
import { type Document, useUpdateDocument } from '../../queries/documents.ts'
import { fieldErrors } from '../../queries/errors.ts'
import { useLeaveGuard } from '../../routing/leave-guard.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { TextField } from '../../ui/field.tsx'
import { focusIfLost } from '../../ui/focus.ts'
import { toast } from '../../ui/toast.tsx'
import { type Entry, problemOf, toEntries, toMetadata } from './metadata.ts'
import { MetadataEditor } from './metadata-editor.tsx'
import { useKnowledgeTexts } from './texts.ts'

interface Draft {
  title: string
  entries: Entry[]
}

const draftOf = ({ title, metadata }: Document): Draft => ({ title, entries: toEntries(metadata) })

/** Edits the title and the metadata of a document. */
export function DetailsCard({ agentId, document }: { agentId: string; document: Document }) {
  const texts = useKnowledgeTexts().document
  // Undefined if nothing was changed: the values of the service are shown.
  const [draft, setDraft] = useState<Draft>()
  const [wasTried, setTried] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const { mutateAsync, isPending, error, reset } = useUpdateDocument(agentId, document.id)
  const { title, entries } = draft ?? draftOf(document)
  const isDirty = draft !== undefined && JSON.stringify(draft) !== JSON.stringify(draftOf(document))
  useLeaveGuard(isDirty)
  const errors = fieldErrors(error)
  const change = (next: Partial<Draft>) => setDraft({ title, entries, ...next })
  const giveUp = () => {
    setDraft(undefined)
    setTried(false)
    reset()
    // The buttons disappear, and the focus would be lost with them.
    focusIfLost(() => form.current?.querySelector('input'))
  }
  const save = async () => {
    setTried(true)
    if (title.trim() === '' || entries.some((_, place) => problemOf(entries, place) !== undefined)) return
    const metadata = toMetadata(entries, document.metadata)
    const saved = await mutateAsync({ title, metadata }).catch(() => undefined)
    if (saved === undefined) return
    giveUp()
    toast(texts.saved)
  }
  const foot = isDirty && (
    <>
      <Button look="primary" isBusy={isPending} onPress={() => void save()}>
        {texts.save}
      </Button>
      <Button onPress={giveUp}>{texts.reset}</Button>
    </>
  )
  return (
    <Card title={texts.details} description={texts.detailsText} {...(foot && { foot })}>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <TextField
          label={texts.name}
          value={title}
          onChange={(next) => change({ title: next })}
          error={wasTried && title.trim() === '' ? texts.missing : errors['title']}
        />
        <MetadataEditor
          entries={entries}
          onChange={(next) => change({ entries: next })}
          showsProblems={wasTried}
          errors={belowMetadata(errors)}
        />
        {error !== null && <ErrorNote error={error} />}
      </form>
    </Card>
  )
}

const belowMetadata = (errors: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(errors).flatMap(([path, message]) => {
      const key = /^metadata\.(.+?)(?:\.\d+)?$/s.exec(path)?.[1]
      return key === undefined ? [] : [[key, message]]
    }),
  )
