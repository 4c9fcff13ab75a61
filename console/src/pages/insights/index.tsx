import { Soon } from '../../shell/states.tsx'

export default function Insights() {
  return <Soon noun="insights" />
}
