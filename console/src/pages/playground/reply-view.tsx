import { Fragment, useCallback, useState } from 'react'
import type { ChatMessage } from 'repartee-client'
import { type CitedSource, type MessagePlace, useOrigin, useVersions } from '../../queries/replies.ts'
import { useFormat } from '../../texts/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/code-block.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { SafeHtml } from '../../ui/safe-html.tsx'
import { Citation } from './citation.tsx'
import { Details } from './details.tsx'
import { FeedbackButtons } from './feedback.tsx'
import { isHtml } from './plain-text.ts'
import { usePlaygroundTexts } from './texts.ts'
import type { Turn } from './turns.ts'

interface ReplyViewProps {
  turn: Turn
  reply: ChatMessage
  place: MessagePlace
  isLast: boolean
  onSend(text: string): void
  onRegenerate(): void
}

/** A complete reply with its sources, follow-ups and actions. */
export function ReplyView({ turn, reply: shown, place, isLast, onSend, onRegenerate }: ReplyViewProps) {
  const texts = usePlaygroundTexts()
  const { generation } = shown
  const isIncomplete = shown.trace === undefined
  const origin = useOrigin(place, isIncomplete).data
  const { sources, followUps = [], ...reply }: ChatMessage = { ...origin, ...shown }
  const mayHaveVersions = generation === undefined ? isLast : generation > 1
  const earlier = useVersions(place, mayHaveVersions, generation).data ?? []
  const [picked, setPicked] = useState<number>()
  const [isOpen, setOpen] = useState(false)
  const all = earlier.length + 1
  // After a reply is regenerated, the newest version is shown.
  const version = Math.min(picked ?? all, all)
  const isNewest = version === all
  const content = isNewest ? reply.content : earlier[version - 1]!.content
  const cited = isNewest ? sources : undefined
  return (
    <div className="playground-reply">
      <span className="hidden-visually">{texts.agent}: </span>
      <Content agentId={place.agentId} content={content} sources={cited} />
      {cited !== undefined && cited.length > 0 && <Sources agentId={place.agentId} sources={cited} />}
      <div className="playground-tools">
        <CopyButton text={content} label={texts.reply.copy} />
        {isLast && <IconButton icon="refresh" size="small" label={texts.reply.regenerate} onPress={onRegenerate} />}
        <FeedbackButtons key={generation} place={place} given={isIncomplete ? origin?.feedback : undefined} />
        <Button size="small" look="quiet" icon="info" onPress={() => setOpen(true)}>
          {texts.reply.details}
        </Button>
        {all > 1 && <Versions version={version} all={all} onPick={(next) => setPicked(next === all ? undefined : next)} />}
        {reply.trace?.finish === 'cancelled' && <Badge tone="warn">{texts.turn.cut}</Badge>}
        <Facts reply={reply} />
      </div>
      {isLast && followUps.length > 0 && (
        <ul className="playground-suggestions" aria-label={texts.reply.followUps}>
          {followUps.map(({ id, text }) => (
            <li key={id}>
              <Button size="small" onPress={() => onSend(text)}>
                <bdi>{text}</bdi>
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Details isOpen={isOpen} onClose={() => setOpen(false)} turn={turn} reply={reply} place={place} />
    </div>
  )
}

function Content({ agentId, content, sources }: { agentId: string; content: string; sources: CitedSource[] | undefined }) {
  const citation = useCallback(
    (n: number) => {
      const source = sources?.find(({ index }) => index === n)
      if (source !== undefined) return <Citation agentId={agentId} source={source} look="mark" />
      return sources === undefined ? <span className="mark">{n}</span> : `[${n}]`
    },
    [agentId, sources],
  )
  return isHtml(content) ? <SafeHtml html={content} citation={citation} /> : <Markdown text={content} citation={citation} />
}

function Sources({ agentId, sources }: { agentId: string; sources: readonly CitedSource[] }) {
  const texts = usePlaygroundTexts().reply
  return (
    <ul className="playground-sources" aria-label={texts.sources}>
      {sources.map((source) => (
        <li key={source.index}>
          <Citation agentId={agentId} source={source} look="chip" />
        </li>
      ))}
    </ul>
  )
}

function Versions({ version, all, onPick }: { version: number; all: number; onPick(version: number): void }) {
  const texts = usePlaygroundTexts().reply
  return (
    <span className="playground-versions">
      <IconButton
        icon="start"
        size="small"
        label={texts.previous}
        isDisabled={version === 1}
        onPress={() => onPick(version - 1)}
      />
      <span className="numbers" role="status">
        {texts.version(version, all)}
      </span>
      <IconButton icon="end" size="small" label={texts.next} isDisabled={version === all} onPress={() => onPick(version + 1)} />
    </span>
  )
}

/** Short facts: the model, the duration and the cost. */
function Facts({ reply: { model, trace, usage } }: { reply: ChatMessage }) {
  const texts = usePlaygroundTexts().reply
  const format = useFormat()
  const ms = trace?.timings.reduce((sum, step) => sum + step.ms, 0)
  const tokens = usage === undefined ? 0 : usage.tokensIn + usage.tokensOut
  const facts = [
    model,
    ms === undefined ? undefined : format.ms(ms),
    tokens > 0 ? texts.tokens(tokens) : undefined,
    usage?.cost ? format.money(usage.cost) : undefined,
  ]
  return (
    <span className="playground-reply-facts numbers">
      {facts
        .filter((fact) => fact !== undefined)
        .map((fact, place) => (
          <Fragment key={fact}>
            {place > 0 && ' · '}
            <bdi>{fact}</bdi>
          </Fragment>
        ))}
    </span>
  )
}
