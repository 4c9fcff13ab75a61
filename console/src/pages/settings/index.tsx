import { Soon } from '../../shell/states.tsx'

export default function Settings() {
  return <Soon noun="settings" />
}
