import { useState } from 'react'
import { type Unanswered, useAnswered } from '../../queries/insights.ts'
import { useRights } from '../../session/session.tsx'
import { useFormat } from '../../texts/format.ts'
import { Status } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Link } from '../../ui/link.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { AddAnswer } from './add-answer.tsx'
import { useInsightTexts } from './texts.ts'

const FIRST = 8

/** Questions that the knowledge base could not answer, and an action to add each answer. */
export function UnansweredQuestions({ agentId, unanswered }: { agentId: string; unanswered: readonly Unanswered[] }) {
  const texts = useInsightTexts().unanswered
  const format = useFormat()
  const rights = useRights()
  const { answered, add } = useAnswered(agentId)
  const [open, setOpen] = useState<string>()
  const [isWhole, setWhole] = useState(false)
  const columns: Column<Unanswered>[] = [
    { id: 'question', label: texts.question, cell: ({ question }) => <span className="as-written">{question}</span> },
    { id: 'count', label: texts.count, isNumber: true, width: '5rem', cell: ({ count }) => format.number(count) },
    {
      id: 'last',
      label: texts.last,
      width: '9rem',
      cell: ({ lastAskedAt }) => (
        <time dateTime={lastAskedAt} title={format.time(lastAskedAt)} className="muted">
          {format.ago(lastAskedAt)}
        </time>
      ),
    },
    ...(rights.can('read')
      ? [
          {
            id: 'where',
            label: texts.where,
            width: '11rem',
            cell: ({ sessionIds }: Unanswered) => <Where agentId={agentId} sessionIds={sessionIds} />,
          },
        ]
      : []),
    {
      id: 'answer',
      label: texts.answer,
      width: '10rem',
      cell: ({ question }) =>
        answered.includes(question) ? (
          <Status tone="good">{texts.done}</Status>
        ) : (
          <Button
            size="small"
            icon="plus"
            className="insights-add"
            aria-label={texts.addTo(question)}
            onPress={() => setOpen(question)}
          >
            {texts.add}
          </Button>
        ),
    },
  ]
  return (
    <Card
      title={texts.title}
      description={texts.description}
      isFlush
      {...(unanswered.length > FIRST &&
        !isWhole && {
          foot: (
            <Button size="small" look="quiet" onPress={() => setWhole(true)}>
              {texts.showAll(unanswered.length)}
            </Button>
          ),
        })}
    >
      <Table
        label={texts.title}
        columns={columns}
        rows={isWhole ? unanswered : unanswered.slice(0, FIRST)}
        idOf={({ question }) => question}
        nameOf={({ question }) => question}
        empty={
          <EmptyState icon="good" title={texts.empty}>
            {texts.emptyText}
          </EmptyState>
        }
      />
      {open !== undefined && (
        <AddAnswer agentId={agentId} question={open} onAnswered={() => add(open)} onClose={() => setOpen(undefined)} />
      )}
    </Card>
  )
}

/** Links to the conversations with the question. */
function Where({ agentId, sessionIds }: { agentId: string; sessionIds: readonly string[] }) {
  const texts = useInsightTexts().unanswered
  const href = (id: string) => `/agents/${agentId}/conversations/${id}`
  const [first] = sessionIds
  if (sessionIds.length <= 1)
    return first === undefined ? null : (
      <Link href={href(first)} className="insights-where-one">
        {texts.open}
      </Link>
    )
  const name = texts.conversations(sessionIds.length)
  return (
    <Menu
      label={name}
      trigger={
        <Button size="small" look="quiet" className="insights-where">
          {name}
        </Button>
      }
    >
      {sessionIds.map((id, i) => (
        <MenuItem key={id} icon="conversations" href={href(id)}>
          {texts.conversation(i + 1)}
        </MenuItem>
      ))}
    </Menu>
  )
}
