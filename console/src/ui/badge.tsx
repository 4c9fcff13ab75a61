import './badge.css'
import type { ReactNode } from 'react'

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad'

/** A word about a thing. */
export const Badge = ({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`badge badge-${tone}`}>{children}</span>
)

/** How a thing is. The colour says nothing that the words do not. */
export const Status = ({ tone, children, isBusy = false }: { tone: Tone; children: ReactNode; isBusy?: boolean }) => (
  <span className={`status status-${tone}`}>
    <span className={`status-dot ${isBusy ? 'status-busy' : ''}`} aria-hidden="true" />
    {children}
  </span>
)
