import { Soon } from '../../shell/states.tsx'

export default function Knowledge() {
  return <Soon noun="knowledge" />
}
