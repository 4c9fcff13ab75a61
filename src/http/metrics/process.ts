import { readdirSync, readFileSync } from 'node:fs'
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import type { Registry } from './registry.ts'

const NS = 1e9
const GC_KINDS: Record<number, string> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
}

type GcEntry = { duration: number } & { detail: { kind: number } }

/** Registers the metrics of any Node process, under the names that dashboards know. Returns a function that stops the observers. */
export function processMetrics(registry: Registry): () => void {
  const cpu = (kind: 'user' | 'system') => () => process.cpuUsage()[kind] / 1e6
  registry.total('process_cpu_user_seconds_total', 'Time of the processor in the program.', cpu('user'))
  registry.total('process_cpu_system_seconds_total', 'Time of the processor in the kernel for the program.', cpu('system'))
  registry.total('process_cpu_seconds_total', 'Time of the processor.', () => cpu('user')() + cpu('system')())
  const startedAt = Date.now() / 1_000 - process.uptime()
  registry.gauge('process_start_time_seconds', 'When the process began, since 1970.', () => startedAt)
  registry.gauge('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss())
  registry.gauge('process_open_fds', 'Descriptors that are open.', countDescriptors)
  registry.gauge('process_max_fds', 'Descriptors that may be open.', readMaxDescriptors)
  registry.gauge('nodejs_heap_size_used_bytes', 'Heap of the main thread that is in use.', () => process.memoryUsage().heapUsed)
  registry.gauge('nodejs_heap_size_total_bytes', 'Heap of the main thread.', () => process.memoryUsage().heapTotal)
  registry.gauge('nodejs_external_memory_bytes', 'Memory beside the heap.', () => process.memoryUsage().external)
  const stop = [eventLoopMetrics(registry), gcMetrics(registry)]
  return () => {
    for (const end of stop) end()
  }
}

/** Registers delays since the last reading. Returns a function that stops the monitor. */
function eventLoopMetrics(registry: Registry): () => void {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const seconds = (ns: number) => (Number.isFinite(ns) ? ns / NS : 0)
  const about = 'Delay of the event loop since it was asked for last'
  registry.gauge('nodejs_eventloop_lag_p50_seconds', `${about}, median.`, () => seconds(delay.percentile(50)))
  registry.gauge('nodejs_eventloop_lag_p99_seconds', `${about}, 99th percentile.`, () => seconds(delay.percentile(99)))
  registry.gauge('nodejs_eventloop_lag_max_seconds', `${about}, longest.`, () => {
    const max = seconds(delay.max)
    delay.reset()
    return max
  })
  return () => delay.disable()
}

function gcMetrics(registry: Registry): () => void {
  const buckets = [0.001, 0.01, 0.1, 1, 2, 5]
  const duration = registry.histogram('nodejs_gc_duration_seconds', 'Collections of garbage.', buckets, ['kind'])
  const observer = new PerformanceObserver((list) => {
    for (const { duration: ms, detail } of list.getEntries() as unknown as GcEntry[])
      duration.observe(ms / 1_000, GC_KINDS[detail.kind] ?? 'other')
  })
  observer.observe({ entryTypes: ['gc'] })
  return () => observer.disconnect()
}

/** Returns undefined if the system does not report the number. */
function countDescriptors(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return undefined
  }
}

function readMaxDescriptors(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
