import { type Key, useKeyUsage } from '../../queries/keys.ts'
import { BudgetCell } from '../parts/budget-meters.tsx'

/** Shows the usage of a key's budget. */
export const KeyBudget = ({ of }: { of: Key }) => <BudgetCell budget={of.budget} usage={useKeyUsage(of)} of={of.name} />
