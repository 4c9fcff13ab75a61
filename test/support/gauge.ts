import type { Client } from './client.ts'

/** Reads the value of a metric without labels, given its name without `repartee_`. */
export async function gauge(client: Client, name: string): Promise<number> {
  const { text } = await client.get('^/metrics')
  const [, value] = new RegExp(`^repartee_${name} (\\S+)$`, 'm').exec(text) ?? []
  if (value === undefined) throw new Error(`there is no metric repartee_${name}`)
  return Number(value)
}
