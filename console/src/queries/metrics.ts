import { useQuery } from '@tanstack/react-query'
import { ReparteeError } from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'

const EVERY_MS = 10_000

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** Parses the Prometheus text format. Skips comments and values that are not numbers. */
function parseMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? []
    if (name === undefined || Number.isNaN(Number(value))) return []
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
    return [{ name, value: Number(value), labels: Object.fromEntries(pairs.map(([, label, text]) => [label, text])) }]
  })
}

/** Sums the samples with this name whose labels pass the filter. */
export const sumOf = (samples: readonly Sample[], name: string, passes: (labels: Sample['labels']) => boolean = () => true) =>
  samples.reduce((sum, sample) => (sample.name === name && passes(sample.labels) ? sum + sample.value : sum), 0)

/** The metrics of the process that responds, every ten seconds. Needs the scope `admin`. */
export function useMetrics() {
  const { connection } = useClient()
  return useQuery({
    queryKey: keyOf.metrics,
    queryFn: async ({ signal }) => {
      const key = await connection.credentials.get()
      const response = await fetch('/metrics', { signal, cache: 'no-store', headers: { authorization: `Bearer ${key}` } }).catch(
        (cause) => {
          throw new ReparteeError('connection_failed', '/metrics', { cause })
        },
      )
      if (response.status === 401) await connection.credentials.renew(key)
      if (!response.ok) throw new ReparteeError('connection_failed', `/metrics: ${response.status}`, { status: response.status })
      return parseMetrics(await response.text())
    },
    refetchInterval: EVERY_MS,
  })
}
