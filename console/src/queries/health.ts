import { useQuery } from '@tanstack/react-query'
import { keyOf } from './client.ts'

const EVERY_MS = 30_000

/** Whether the service reports that it is ready. */
export const useHealth = () =>
  useQuery({
    queryKey: keyOf.health,
    queryFn: async ({ signal }): Promise<'ready' | 'unavailable'> => {
      const response = await fetch('/readyz', { signal, cache: 'no-store' })
      return response.ok ? 'ready' : 'unavailable'
    },
    refetchInterval: EVERY_MS,
  })

/** The version of the service. The console is built and served with it, so both have the same version. */
export const version: string = __REPARTEE_VERSION__

/** Whether the process responds at all. */
export const useAlive = () =>
  useQuery({
    queryKey: [...keyOf.health, 'alive'],
    queryFn: async ({ signal }): Promise<boolean> => {
      const response = await fetch('/healthz', { signal, cache: 'no-store' }).catch(() => undefined)
      return response?.ok ?? false
    },
    refetchInterval: EVERY_MS,
  })
