import './states.css'
import type { ReactNode } from 'react'
import { useUiTexts } from './texts.ts'

/** Placeholder for text that is loading. `width` is in characters. */
export const Skeleton = ({ width = 12, lines = 1 }: { width?: number; lines?: number }) => (
  <span className="skeletons" aria-hidden="true">
    {Array.from({ length: lines }, (_, line) => (
      <span
        // biome-ignore lint/suspicious/noArrayIndexKey: all lines are equal
        key={line}
        className="skeleton"
        style={{ inlineSize: `${line === lines - 1 && lines > 1 ? width * 0.6 : width}ch` }}
      />
    ))}
  </span>
)

/** A part of a page that is loading: announced once, and marked as busy. */
export function Loading({ children }: { children: ReactNode }) {
  const texts = useUiTexts()
  return (
    <div aria-busy="true">
      <span className="hidden-visually" role="status">
        {texts.loading}
      </span>
      {children}
    </div>
  )
}

/** Placeholder for a list with this number of rows. */
export const SkeletonRows = ({ rows = 5 }: { rows?: number }) => (
  <Loading>
    <div className="skeleton-rows">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all rows are equal
        <div key={row} className="skeleton-row">
          <Skeleton width={20 + ((row * 7) % 13)} />
          <Skeleton width={8} />
        </div>
      ))}
    </div>
  </Loading>
)
