import { Soon } from '../../shell/states.tsx'

export default function System() {
  return <Soon noun="system" />
}
