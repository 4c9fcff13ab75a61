import { useEffect, useRef, useSyncExternalStore } from 'react'
import { ReparteeError } from 'repartee-client'
import { useForgetDocuments } from '../../queries/documents.ts'
import { toFailure } from '../../queries/errors.ts'
import { useClient } from '../../session/session.tsx'
import { useFormat } from '../../texts/format.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ProgressBar } from '../../ui/progress.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { toast } from '../../ui/toast.tsx'
import { useKnowledgeTexts } from './texts.ts'
import { queueOf, type Upload, type UploadQueue } from './upload-queue.ts'

/** Maximum number of failed uploads in the list. */
const MOST_FAILED = 100

/** Shows the running and failed uploads; renders nothing if there are none. */
export function UploadsPanel({ agentId }: { agentId: string }) {
  const texts = useKnowledgeTexts().uploads
  const queue = queueOf(useClient(), agentId)
  const { list, sent } = useSyncExternalStore(queue.subscribe, queue.snapshot)
  const sending = list.filter(({ state }) => state === 'sending')
  const waiting = list.filter(({ state }) => state === 'waiting')
  const failed = list.filter(({ state }) => state === 'failed')
  const isBusy = sending.length + waiting.length > 0
  useNews(agentId, sent, isBusy)
  if (list.length === 0) return null
  const share = sending.reduce((sum, one) => sum + one.share, sent + failed.length)
  const stop = (
    <Button size="small" onPress={() => queue.stop()}>
      {texts.stop}
    </Button>
  )
  return (
    <Card title={texts.title} className="knowledge-uploads-card" {...(isBusy && { actions: stop })}>
      <div className="stack knowledge-uploads">
        {isBusy && <ProgressBar label={texts.progress(sent, sent + list.length)} value={share} max={sent + list.length} />}
        <ul className="knowledge-upload-list">
          {sending.map((one) => (
            <Sending key={one.id} upload={one} queue={queue} />
          ))}
        </ul>
        {waiting.length > 0 && <p className="muted">{texts.waiting(waiting.length)}</p>}
        {failed.length > 0 && <Failed failed={failed} queue={queue} />}
      </div>
    </Card>
  )
}

function Sending({ upload, queue }: { upload: Upload; queue: UploadQueue }) {
  const texts = useKnowledgeTexts().uploads
  const format = useFormat()
  const { id, path, file, share } = upload
  return (
    <li className="knowledge-upload">
      <Icon name="file" />
      <span className="knowledge-upload-name as-written">{path}</span>
      <span className="muted numbers">{format.bytes(file.size)}</span>
      <span className="knowledge-upload-bar">
        <ProgressBar label={texts.of(path)} value={share} hidesLabel />
      </span>
      <IconButton icon="close" size="small" label={texts.dismiss(path)} onPress={() => queue.dismiss(id)} />
    </li>
  )
}

function Failed({ failed, queue }: { failed: readonly Upload[]; queue: UploadQueue }) {
  const texts = useKnowledgeTexts().uploads
  return (
    <section className="stack knowledge-failed" aria-label={texts.failed(failed.length)}>
      <div className="row spread">
        <strong className="knowledge-failed-title" role="status">
          {texts.failed(failed.length)}
        </strong>
        <div className="row">
          <Button size="small" icon="refresh" onPress={() => queue.retry()}>
            {texts.retryAll}
          </Button>
          <Button size="small" look="quiet" onPress={() => queue.dismiss()}>
            {texts.dismissAll}
          </Button>
        </div>
      </div>
      <ul className="knowledge-upload-list">
        {failed.slice(0, MOST_FAILED).map((one) => (
          <FailedUpload key={one.id} upload={one} queue={queue} />
        ))}
      </ul>
      {failed.length > MOST_FAILED && <p className="muted">{texts.more(failed.length - MOST_FAILED)}</p>}
    </section>
  )
}

function FailedUpload({ upload: { id, path, error }, queue }: { upload: Upload; queue: UploadQueue }) {
  const texts = useKnowledgeTexts().uploads
  const failure = toFailure(error, useUiTexts())
  const isTooLarge = error instanceof ReparteeError && error.code === 'payload_too_large'
  const why = failure.details.length > 0 ? failure.details.map(({ message }) => message).join(' ') : failure.message
  return (
    <li className="knowledge-upload">
      <Icon name="bad" className="knowledge-bad" />
      <span className="knowledge-upload-name">
        <span className="as-written">{path}</span>
        <span className="knowledge-reason as-written">{isTooLarge ? texts.tooLarge : why}</span>
      </span>
      <Button size="small" aria-label={texts.retryOf(path)} onPress={() => queue.retry(id)}>
        {texts.retry}
      </Button>
      <IconButton icon="close" size="small" label={texts.dismiss(path)} onPress={() => queue.dismiss(id)} />
    </li>
  )
}

const TELL_EVERY_MS = 500

/** Refetches the documents as uploads complete, and shows a toast at the end. */
function useNews(agentId: string, sent: number, isBusy: boolean): void {
  const texts = useKnowledgeTexts().uploads
  const forget = useForgetDocuments(agentId)
  const latest = useRef({ forget, sent, texts })
  latest.current = { forget, sent, texts }
  useEffect(() => {
    if (sent === 0) return
    const timer = setTimeout(() => void latest.current.forget(), TELL_EVERY_MS)
    return () => clearTimeout(timer)
  }, [sent])
  useEffect(() => {
    if (!isBusy) return
    return () => {
      const { forget, sent, texts } = latest.current
      if (sent > 0) toast(texts.done(sent))
      void forget()
    }
  }, [isBusy])
}
