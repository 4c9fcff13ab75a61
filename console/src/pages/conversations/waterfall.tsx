import './waterfall.css'
import type { Trace } from '../../queries/replies.ts'
import { useFormat } from '../../texts/format.ts'
import { useConversationTexts } from './texts.ts'

/** The steps of a reply run one after the other: each bar begins where the previous one ends. `hidesCaption`: a heading says the same. */
export function Waterfall({ timings, hidesCaption = false }: Pick<Trace, 'timings'> & { hidesCaption?: boolean }) {
  const texts = useConversationTexts().trace
  const format = useFormat()
  const total = timings.reduce((sum, { ms }) => sum + ms, 0)
  const share = (ms: number) => `${total === 0 ? 0 : (ms / total) * 100}%`
  let from = 0
  return (
    <table className="conversations-waterfall">
      <caption className={hidesCaption ? 'hidden-visually' : ''}>{texts.timings}</caption>
      <thead className="hidden-visually">
        <tr>
          <th scope="col">{texts.step}</th>
          <th scope="col">{texts.duration}</th>
        </tr>
      </thead>
      <tbody>
        {timings.map(({ step, ms }, i) => {
          const begins = from
          from += ms
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a step may occur twice, and steps have no id
            <tr key={i}>
              <th scope="row">{texts.steps[step as keyof typeof texts.steps] ?? step}</th>
              <td>
                <span className="conversations-lane" aria-hidden="true">
                  <span style={{ insetInlineStart: share(begins), inlineSize: share(ms) }} />
                </span>
                <span className="numbers">{format.ms(ms)}</span>
              </td>
            </tr>
          )
        })}
        <tr className="conversations-waterfall-total">
          <th scope="row">{texts.total}</th>
          <td>
            <span className="conversations-lane" aria-hidden="true" />
            <span className="numbers">{format.ms(total)}</span>
          </td>
        </tr>
      </tbody>
    </table>
  )
}
