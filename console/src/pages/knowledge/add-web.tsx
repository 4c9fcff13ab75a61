import { useState } from 'react'
import { useAddDocument } from '../../queries/documents.ts'
import { fieldErrors, toFailure } from '../../queries/errors.ts'
import { useAddSource } from '../../queries/sources.ts'
import { NumberField, TextField } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select } from '../../ui/select.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { toast } from '../../ui/toast.tsx'
import { RadioGroup } from '../../ui/toggle.tsx'
import { useIsThere } from '../../ui/use-is-there.ts'
import { useTakesFocus } from '../../ui/use-media.ts'
import { useKnowledgeTexts } from './texts.ts'

type Kind = 'url' | 'sitemap' | 'site'
const kinds = ['url', 'sitemap', 'site'] as const
type Refresh = 'never' | 'hour' | 'day' | 'week'
const refreshes = ['never', 'hour', 'day', 'week'] as const
const HOURS: Record<Refresh, number | undefined> = { never: undefined, hour: 1, day: 24, week: 168 }

/** Adds web pages, once or synchronized regularly. */
export function AddWeb({ agentId, urls = '', onClose }: { agentId: string; urls?: string; onClose(): void }) {
  const texts = useKnowledgeTexts().web
  const uiTexts = useUiTexts()
  const takesFocus = useTakesFocus()
  const isThere = useIsThere()
  const [kind, setKind] = useState<Kind>('url')
  const [lines, setLines] = useState(urls)
  const [maxPages, setMaxPages] = useState(100)
  const [maxDepth, setMaxDepth] = useState(3)
  const [refresh, setRefresh] = useState<Refresh>('never')
  const [problem, setProblem] = useState<string>()
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const document = useAddDocument(agentId)
  const source = useAddSource(agentId)
  const refreshHours = HOURS[refresh]
  const add = (url: string): Promise<unknown> => {
    if (kind === 'url' && refreshHours === undefined) return document.mutateAsync({ url })
    const site = kind === 'site' ? { maxPages, maxDepth } : kind === 'sitemap' ? { maxPages } : {}
    return source.mutateAsync({ type: kind, url, ...site, refreshHours: refreshHours ?? null })
  }
  const submit = async () => {
    const asked = lines.split('\n').flatMap((line) => line.trim() || [])
    const wrong = asked.find((line) => !/^https?:\/\/\S+$/i.test(line))
    if (asked.length === 0) return setProblem(texts.missing)
    if (wrong !== undefined) return setProblem(texts.notUrl(wrong))
    setBusy(true)
    setProblem(undefined)
    setFailure(undefined)
    const left: string[] = []
    for (const url of asked) {
      // Closing the dialog cancels the requests that were not sent yet.
      if (!isThere()) return
      try {
        await add(url)
      } catch (error) {
        left.push(url)
        setFailure(error)
        const own = fieldErrors(error)['url']
        setProblem(`${url}: ${own ?? toFailure(error, uiTexts).message}`)
      }
    }
    if (!isThere()) return
    setBusy(false)
    if (left.length < asked.length) toast(texts.done(asked.length - left.length))
    // Only failed addresses are left for another attempt.
    if (left.length > 0) setLines(left.join('\n'))
    else onClose()
  }
  return (
    <FormDialog
      title={texts.title}
      action={texts.submit}
      onSubmit={() => void submit()}
      onClose={onClose}
      error={fieldErrors(failure)['url'] === undefined ? failure : undefined}
      isBusy={isBusy}
      width="34rem"
    >
      <RadioGroup<Kind>
        label={texts.kind}
        value={kind}
        onChange={setKind}
        choices={kinds.map((one) => ({ id: one, label: texts.kinds[one], description: texts.kindTexts[one] }))}
      />
      <TextField
        label={kind === 'url' ? texts.urls : texts.url}
        value={lines}
        onChange={setLines}
        {...(kind === 'url' && { rows: 3 })}
        isCode
        isRequired
        autoFocus={takesFocus}
        placeholder={kind === 'sitemap' ? 'https://example.com/sitemap.xml' : 'https://example.com/help'}
        error={problem}
      />
      {kind !== 'url' && (
        <div className="knowledge-numbers">
          <NumberField label={texts.maxPages} value={maxPages} onChange={setMaxPages} minValue={1} maxValue={10_000} />
          {kind === 'site' && (
            <NumberField label={texts.maxDepth} value={maxDepth} onChange={setMaxDepth} minValue={0} maxValue={20} />
          )}
        </div>
      )}
      <Select<Refresh>
        label={texts.refresh}
        value={refresh}
        onChange={setRefresh}
        options={refreshes.map((one) => ({ id: one, label: texts.refreshes[one] }))}
      />
    </FormDialog>
  )
}
