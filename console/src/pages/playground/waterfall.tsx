import type { Trace } from '../../queries/replies.ts'
import { useFormat } from '../../texts/format.ts'
import { usePlaygroundTexts } from './texts.ts'

/** The steps of a reply, one behind the other. */
export function Waterfall({ timings }: { timings: Trace['timings'] }) {
  const texts = usePlaygroundTexts().details
  const format = useFormat()
  const all = timings.reduce((sum, { ms }) => sum + ms, 0)
  const names: Record<string, string> = texts.steps
  let before = 0
  return (
    <table className="playground-table playground-waterfall">
      <tbody>
        {timings.map(({ step, ms }) => {
          const start = all > 0 ? (100 * before) / all : 0
          before += ms
          return (
            <tr key={step}>
              <th scope="row">{names[step] ?? step}</th>
              <td className="playground-lane" aria-hidden="true">
                <span style={{ marginInlineStart: `${start}%`, inlineSize: `${all > 0 ? (100 * ms) / all : 0}%` }} />
              </td>
              <td className="playground-number numbers">{format.ms(ms < 10 ? Math.round(ms * 10) / 10 : ms)}</td>
            </tr>
          )
        })}
        <tr>
          <th scope="row">{texts.total}</th>
          <td aria-hidden="true" />
          <td className="playground-number numbers">{format.ms(all)}</td>
        </tr>
      </tbody>
    </table>
  )
}
