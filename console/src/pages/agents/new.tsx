import './agents.css'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useCreateAgent } from '../../queries/agents.ts'
import { fieldErrors } from '../../queries/errors.ts'
import { useGoOn } from '../../routing/go-on.ts'
import { useLeaveGuard } from '../../routing/leave-guard.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { TextField } from '../../ui/field.tsx'
import { ListEditor } from '../../ui/list-editor.tsx'
import { Page } from '../../ui/page.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { toast } from '../../ui/toast.tsx'
import { toCreate } from './draft.ts'
import { ModelField } from './fields.tsx'
import { focusFirstError } from './focus-error.ts'
import { type TemplateId, TemplatePicker } from './template-picker.tsx'
import { useAgentTexts } from './texts.ts'

/** Creates an agent from a template. */
export default function NewAgentPage() {
  const texts = useAgentTexts()
  const ui = useUiTexts()
  const goOn = useGoOn()
  const create = useCreateAgent()
  const form = useRef<HTMLFormElement>(null)
  const [template, setTemplate] = useState<TemplateId>('documentation')
  const [draft, setDraft] = useState(() => ({ ...contentOf(texts.templates.documentation), model: '' }))
  const [isTouched, setTouched] = useState(false)
  const [problem, setProblem] = useState<string>()
  useLeaveGuard(isTouched && !create.isSuccess)
  const errors: Record<string, string> = { ...fieldErrors(create.error), ...(problem !== undefined && { name: problem }) }
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after every response
  useEffect(() => focusFirstError(form.current), [create.error, problem])

  const change = (more: Partial<typeof draft>) => {
    setDraft({ ...draft, ...more })
    setTouched(true)
    setProblem(undefined)
  }
  const pick = (id: TemplateId) => {
    // Fields that the reader changed keep their content.
    const before = contentOf(texts.templates[template])
    const next = contentOf(texts.templates[id])
    const kept = Object.entries(draft).filter(
      ([field, value]) => JSON.stringify(before[field as keyof typeof before]) !== JSON.stringify(value),
    )
    setTemplate(id)
    setDraft({ ...next, ...(Object.fromEntries(kept) as typeof draft) })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (create.isPending) return
    if (draft.name.trim() === '') return setProblem(texts.create.missingName)
    create.mutate(toCreate(draft), {
      onSuccess: (agent) => {
        toast(texts.create.done(agent.name))
        goOn(`/agents/${agent.id}/knowledge`)
      },
    })
  }

  return (
    <Page title={texts.create.title} description={texts.create.description} width="narrow">
      <form ref={form} className="stack" style={{ '--gap': 'var(--s5)' } as React.CSSProperties} onSubmit={submit} noValidate>
        <TemplatePicker value={template} onChange={pick} />
        <Card title={texts.fields.identity} description={texts.fields.identityText}>
          <div className="stack">
            <TextField
              label={texts.create.name}
              description={texts.create.nameText}
              placeholder={texts.create.namePlaceholder}
              value={draft.name}
              onChange={(name) => change({ name })}
              error={errors['name']}
              isRequired
            />
            <TextField
              label={texts.fields.instructions}
              description={texts.fields.instructionsText}
              rows={6}
              value={draft.instructions}
              onChange={(instructions) => change({ instructions })}
              error={errors['instructions']}
            />
            <TextField
              label={texts.fields.greeting}
              rows={2}
              value={draft.greeting}
              onChange={(greeting) => change({ greeting })}
              error={errors['greeting']}
            />
            <ListEditor
              label={texts.fields.starters}
              addLabel={texts.fields.addStarter}
              items={draft.starters}
              onChange={(starters) => change({ starters })}
              max={8}
            />
          </div>
        </Card>
        <Card title={texts.fields.modelCard}>
          <ModelField
            kind="chat"
            label={texts.fields.model}
            description={texts.fields.modelText}
            placeholder="extractive"
            value={draft.model}
            onChange={(model) => change({ model })}
            error={errors['model']}
          />
        </Card>
        {create.error !== null && <ErrorNote error={create.error} title={texts.create.failed} />}
        <div className="row agents-submit">
          <LinkButton href="/agents">{ui.cancel}</LinkButton>
          <Button type="submit" look="primary" isBusy={create.isPending}>
            {texts.create.submit}
          </Button>
        </div>
      </form>
    </Page>
  )
}

const contentOf = ({
  name,
  instructions,
  greeting,
  starters,
}: {
  name: string
  instructions: string
  greeting: string
  starters: readonly string[]
}) => ({
  name,
  instructions,
  greeting,
  starters: [...starters],
})
