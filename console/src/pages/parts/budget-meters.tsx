import './parts.css'
import type { BudgetUse } from 'repartee-client'
import { useFormat } from '../../texts/format.ts'
import { Meter } from '../../ui/progress.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { usePartTexts } from './texts.ts'

/** Whether today's budget is used up, so that no more model calls are possible. */
const isUsedUp = (use: NonNullable<BudgetUse>) =>
  (use.tokensPerDay !== null && use.tokens >= use.tokensPerDay) || (use.costPerDay !== null && use.cost >= use.costPerDay)

interface BudgetCellProps {
  budget: Pick<NonNullable<BudgetUse>, 'tokensPerDay' | 'costPerDay'> | undefined
  /** The usage query. */
  usage: { data: BudgetUse | undefined; isPending: boolean; isError: boolean }
  of: string
}

/** The used budget, for lists where some rows have none. While it loads, meters of the same size are the placeholder. */
export function BudgetCell({ budget, usage: { data, isPending, isError }, of }: BudgetCellProps) {
  const texts = usePartTexts().budget
  const { failed } = useUiTexts()
  if (isError) return <span className="muted">{failed}</span>
  if (budget === undefined || data === null) return <span className="muted">{texts.none}</span>
  const use = data ?? { ...budget, date: '', resetsAt: '', tokens: 0, cost: 0 }
  return (
    <span aria-busy={isPending}>
      <BudgetMeters use={use} of={of} />
    </span>
  )
}

/** The used part of today's budget. `of` is the name of its owner, for screen readers. */
function BudgetMeters({ use, of }: { use: NonNullable<BudgetUse>; of: string }) {
  const texts = usePartTexts().budget
  const format = useFormat()
  const { tokens, tokensPerDay, cost, costPerDay, resetsAt } = use
  return (
    <span className="parts-meters">
      {tokensPerDay !== null && (
        <span className="parts-meter">
          <span className="parts-small">
            {texts.of(format.compact(tokens), format.compact(tokensPerDay))} <span className="muted">{texts.tokens}</span>
          </span>
          <Meter
            label={`${of}, ${texts.tokens}`}
            hidesLabel
            value={tokens}
            max={tokensPerDay}
            valueLabel={texts.of(format.number(tokens), format.number(tokensPerDay))}
          />
        </span>
      )}
      {costPerDay !== null && (
        <span className="parts-meter">
          <span className="parts-small">
            {texts.of(format.money(cost), format.money(costPerDay))} <span className="muted">{texts.cost}</span>
          </span>
          <Meter
            label={`${of}, ${texts.cost}`}
            hidesLabel
            value={cost}
            max={costPerDay}
            valueLabel={texts.of(format.money(cost), format.money(costPerDay))}
          />
        </span>
      )}
      {isUsedUp(use) && (
        <span className="parts-small parts-used-up">
          {texts.usedUp}. {texts.until(format.ago(resetsAt))}
        </span>
      )}
    </span>
  )
}
