import { Soon } from '../../shell/states.tsx'

export default function Keys() {
  return <Soon noun="keys" />
}
