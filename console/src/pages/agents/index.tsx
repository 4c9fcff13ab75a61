import { Soon } from '../../shell/states.tsx'

export default function P() {
  return <Soon noun="overview" />
}
