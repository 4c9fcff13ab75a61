import { until } from './poll.ts'

/** Pauses a process for `ms`. */
export async function stall(pid: number, ms: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  const end = performance.now() + ms
  await until('it stood still for long enough', () => performance.now() > end)
  process.kill(pid, 'SIGCONT')
}
