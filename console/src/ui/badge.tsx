import './badge.css'
import type { ReactNode } from 'react'

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad'

/** A short label on an item. */
export const Badge = ({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`badge badge-${tone}`}>{children}</span>
)

/** The state of an item. The text must say everything that the colour says. */
export const Status = ({ tone, children, isBusy = false }: { tone: Tone; children: ReactNode; isBusy?: boolean }) => (
  <span className={`status status-${tone}`}>
    <span className={`status-dot ${isBusy ? 'status-busy' : ''}`} aria-hidden="true" />
    {children}
  </span>
)
