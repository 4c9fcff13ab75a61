import type { Trace } from '../../queries/replies.ts'
import { useRights } from '../../session/session.tsx'
import { useFormat } from '../../texts/format.ts'
import { Link } from '../../ui/link.tsx'
import { useMethods } from '../../ui/methods.ts'
import { usePlaygroundTexts } from './texts.ts'

type Passage = Trace['passages'][number]

/** The passages of a reply with their score per method. Bars are relative to the maximum of their column. */
export function ScoreTable({ agentId, passages }: { agentId: string; passages: readonly Passage[] }) {
  const texts = usePlaygroundTexts().details
  const rights = useRights()
  const methods = useMethods(passages)
  if (passages.length === 0) return <p className="muted">{texts.noPassages}</p>
  const most = (of: (passage: Passage) => number | undefined) => Math.max(...passages.map((one) => of(one) ?? 0))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by the keyboard
    <section className="playground-scores" tabIndex={0} aria-label={texts.score}>
      <table className="playground-table">
        <thead>
          <tr>
            <th scope="col">{texts.passage}</th>
            <th scope="col" className="playground-number">
              {texts.score}
            </th>
            {methods.map(({ id, name }) => (
              <th key={id} scope="col" className="playground-number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {passages.map((passage) => (
            <tr key={passage.passageId}>
              <th scope="row" className="playground-passage">
                {rights.can('knowledge') ? (
                  <Link
                    href={`/agents/${agentId}/knowledge/documents/${passage.documentId}?${new URLSearchParams({ passage: passage.passageId })}`}
                  >
                    <bdi>{passage.title}</bdi>
                  </Link>
                ) : (
                  <bdi>{passage.title}</bdi>
                )}
              </th>
              <Score value={passage.score} most={most(({ score }) => score)} />
              {methods.map(({ id }) => (
                <Score key={id} value={passage.scores[id]} most={most(({ scores }) => scores[id])} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Score({ value, most }: { value: number | undefined; most: number }) {
  const format = useFormat()
  if (value === undefined) return <td className="playground-number muted">–</td>
  return (
    <td className="playground-number numbers">
      {format.number(Math.round(value * 100) / 100)}
      <span className="playground-score" aria-hidden="true">
        <span style={{ inlineSize: `${most > 0 ? Math.max(0, (100 * value) / most) : 0}%` }} />
      </span>
    </td>
  )
}
