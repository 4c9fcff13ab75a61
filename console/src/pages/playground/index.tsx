import { Soon } from '../../shell/states.tsx'

export default function Playground() {
  return <Soon noun="playground" />
}
