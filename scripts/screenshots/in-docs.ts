import type { LookName } from './camera.ts'

interface Shot {
  /** Of the picture. */
  name: string
  look: LookName
  size?: { width: number; height: number }
}

const PHONE = { width: 360, height: 720 }
const WINDOW = { width: 1200, height: 720 }

/** What the docs show, by file below `docs/images`; several pictures stand side by side. */
export const inDocs: Record<string, Shot[]> = {
  'console/overview': [{ name: 'overview', look: 'light', size: WINDOW }],
  'console/phone': [{ name: 'overview', look: 'phone', size: PHONE }],
}
