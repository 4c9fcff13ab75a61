import { type Key, useKeyUsage } from '../../queries/keys.ts'
import { BudgetCell } from '../parts/budget-meters.tsx'

/** What is used of the budget of a key. */
export const KeyBudget = ({ of }: { of: Key }) => <BudgetCell budget={of.budget} usage={useKeyUsage(of)} of={of.name} />
