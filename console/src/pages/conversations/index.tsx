import { Soon } from '../../shell/states.tsx'

export default function Conversations() {
  return <Soon noun="conversations" />
}
