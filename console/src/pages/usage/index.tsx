import { Soon } from '../../shell/states.tsx'

export default function Usage() {
  return <Soon noun="usage" />
}
