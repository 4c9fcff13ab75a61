import { useQuery } from '@tanstack/react-query'
import { keyOf } from './client.ts'

const EVERY_MS = 30_000

/** Whether the service says that it is ready. */
export const useHealth = () =>
  useQuery({
    queryKey: keyOf.health,
    queryFn: async ({ signal }): Promise<'ready' | 'unavailable'> => {
      const response = await fetch('/readyz', { signal, cache: 'no-store' })
      return response.ok ? 'ready' : 'unavailable'
    },
    refetchInterval: EVERY_MS,
  })

/** The console is built and served with the service, so its version is that of the service. */
export const version: string = __REPARTEE_VERSION__

/** Whether the process answers at all. */
export const useAlive = () =>
  useQuery({
    queryKey: [...keyOf.health, 'alive'],
    queryFn: async ({ signal }): Promise<boolean> => {
      const response = await fetch('/healthz', { signal, cache: 'no-store' }).catch(() => undefined)
      return response?.ok ?? false
    },
    refetchInterval: EVERY_MS,
  })
