import { Soon } from '../../shell/states.tsx'

export default function Audit() {
  return <Soon noun="audit" />
}
