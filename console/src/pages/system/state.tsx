import type { ReactNode } from 'react'
import { useAlive, useHealth, version } from '../../queries/health.ts'
import { type Sample, sumOf } from '../../queries/metrics.ts'
import { useFormat } from '../../texts/format.ts'
import { Status } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useSystemTexts } from './texts.ts'

/** Shows whether the service runs, whether it is ready, and its build. */
export function State({ samples }: { samples: Sample[] | undefined }) {
  const texts = useSystemTexts()
  const format = useFormat()
  const { data: isAlive, isPending } = useAlive()
  const { data: health } = useHealth()
  const startedAt = sumOf(samples ?? [], 'process_start_time_seconds') * 1_000
  const build = samples?.find(({ name }) => name === 'repartee_build_info')?.labels
  return (
    <Card>
      <dl className="facts">
        <Fact name={texts.alive}>
          {isPending ? (
            <Skeleton width={7} />
          ) : (
            <Status tone={isAlive ? 'good' : 'bad'}>{isAlive ? texts.up : texts.down}</Status>
          )}
        </Fact>
        <Fact name={texts.ready}>
          {health === undefined ? (
            <Skeleton width={7} />
          ) : (
            <Status tone={health === 'ready' ? 'good' : 'bad'}>{health === 'ready' ? texts.taken : texts.refused}</Status>
          )}
        </Fact>
        <Fact name={texts.version}>
          <bdi>{build?.['version'] ?? version}</bdi>
        </Fact>
        <Fact name={texts.node}>{build === undefined ? <Skeleton width={7} /> : <bdi>{build['node']}</bdi>}</Fact>
        <Fact name={texts.since}>{startedAt === 0 ? <Skeleton width={12} /> : format.time(startedAt)}</Fact>
      </dl>
    </Card>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
