import './agents.css'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { type AgentChanges, type AgentWithStats, useAgent, useUpdateAgent } from '../../queries/agents.ts'
import { fieldErrors } from '../../queries/errors.ts'
import { useGoOn } from '../../routing/go-on.ts'
import { useLeaveGuard } from '../../routing/leave-guard.tsx'
import type { PageProps } from '../../routing/routes.tsx'
import { useFormat } from '../../texts/format.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/code-block.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { focusIfLost } from '../../ui/focus.ts'
import { Page } from '../../ui/page.tsx'
import { Loading, Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { DeleteAgent } from './delete-agent.tsx'
import { changesOf, isChanged, toDraft } from './draft.ts'
import { IdentityFields, LimitFields, ReplyFields, RetrievalFields, WebFields } from './fields.tsx'
import { focusFirstError } from './focus-error.ts'
import { useAgentTexts } from './texts.ts'
import { TryIt } from './try-it.tsx'

/** The settings of an agent, next to a preview chat. */
export default function EditAgentPage({ agentId }: PageProps) {
  const texts = useAgentTexts().edit
  const { data, error, refetch } = useAgent(agentId)
  return (
    <Page
      title={texts.title}
      of={data?.name}
      width="wide"
      description={data === undefined ? <Skeleton width={30} /> : <Facts agent={data} />}
    >
      {error !== null && data === undefined ? (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <EditLoading />
      ) : (
        <Editor agent={data} />
      )}
    </Page>
  )
}

function Facts({ agent }: { agent: AgentWithStats }) {
  const texts = useAgentTexts().edit
  const format = useFormat()
  return (
    <span className="agents-facts">
      <span className="as-written">{agent.name}</span>
      <span className="agents-id">
        <code dir="ltr">{agent.id}</code>
        <CopyButton text={agent.id} label={texts.id} />
      </span>
      <span>{texts.created(format.date(agent.createdAt))}</span>
    </span>
  )
}

const EditLoading = () => (
  <Loading>
    <div className="agents-columns">
      <div className="stack">
        {[14, 10, 8].map((lines) => (
          <div key={lines} className="card page-loading">
            <Skeleton width={60} lines={lines} />
          </div>
        ))}
      </div>
    </div>
  </Loading>
)

function Editor({ agent }: { agent: AgentWithStats }) {
  const texts = useAgentTexts().edit
  const goOn = useGoOn()
  const update = useUpdateAgent(agent.id)
  const form = useRef<HTMLFormElement>(null)
  // Gets the focus after saving, because the buttons become disabled and lose it.
  const said = useRef<HTMLSpanElement>(null)
  const [draft, setDraft] = useState(() => toDraft(agent))
  // Remounts fields with local text, such as the filter, after the draft is discarded.
  const [generation, setGeneration] = useState(0)
  const [isDeleting, setDeleting] = useState(false)
  const isDirty = isChanged(draft, agent)
  const errors = fieldErrors(update.error)
  useLeaveGuard(isDirty)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after every response
  useEffect(() => focusFirstError(form.current), [update.error])

  /** Returns the changes; undefined if a field contains invalid text, which has not reached the draft. */
  const readChanges = (): AgentChanges | undefined => {
    if (form.current?.querySelector('[data-wrong]')) {
      focusFirstError(form.current)
      return undefined
    }
    return changesOf(draft, agent)
  }
  /** Resolves to whether everything is saved. */
  const save = async (): Promise<boolean> => {
    const changes = readChanges()
    if (changes === undefined) return false
    if (!isDirty) return true
    try {
      setDraft(toDraft(await update.mutateAsync(changes)))
      return true
    } catch {
      return false
    }
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (update.isPending || !(await save())) return
    toast(texts.done)
    focusIfLost(() => said.current)
  }
  const discard = () => {
    setDraft(toDraft(agent))
    setGeneration(generation + 1)
    update.reset()
    focusIfLost(() => said.current)
  }
  const fields = { draft, errors, onChange: (change: Partial<typeof draft>) => setDraft((now) => ({ ...now, ...change })) }

  return (
    <div className="agents-columns">
      <form ref={form} className="stack agents-form" onSubmit={(event) => void submit(event)} noValidate>
        <IdentityFields {...fields} />
        <ReplyFields {...fields} />
        <RetrievalFields key={generation} {...fields} />
        <LimitFields {...fields} />
        <WebFields {...fields} />
        <Card
          title={texts.danger}
          description={texts.dangerText}
          className="agents-danger"
          actions={
            <Button icon="trash" onPress={() => setDeleting(true)}>
              {texts.delete}
            </Button>
          }
        />
        {update.error !== null && <ErrorNote error={update.error} title={texts.failed} />}
        <div className="agents-save">
          <span ref={said} tabIndex={-1} role="status" className="muted">
            {update.error !== null && Object.keys(errors).length > 0
              ? texts.wrong(Object.keys(errors).length)
              : isDirty
                ? texts.unsaved
                : texts.saved}
          </span>
          <div className="row">
            <Button isDisabled={!isDirty || update.isPending} onPress={discard}>
              {texts.discard}
            </Button>
            <Button type="submit" look="primary" isDisabled={!isDirty} isBusy={update.isPending}>
              {texts.save}
            </Button>
          </div>
        </div>
      </form>
      <TryIt agent={agent} draft={draft} isDirty={isDirty} readChanges={readChanges} />
      <DeleteAgent agent={isDeleting ? agent : undefined} onClose={() => setDeleting(false)} onDeleted={() => goOn('/agents')} />
    </div>
  )
}
