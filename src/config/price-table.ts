import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Price, Prices } from '../models/prices.ts'
import { type Config, ConfigError } from './config.ts'

/** Reads the operator's price table: the configured file, else `prices.json` in the data folder, if it exists. Throws `ConfigError`. */
export function readPrices({ prices, data }: Config): Prices {
  const path = prices ?? join(data, 'prices.json')
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    if (prices === undefined) return {}
    throw new ConfigError([`REPARTEE_PRICES: ${path} cannot be read`])
  }
  try {
    const table = JSON.parse(text) as Record<string, Partial<Price>>
    const bad = Object.keys(table).filter((model) => !isPrice(table[model]))
    if (bad.length > 0)
      throw new ConfigError(bad.map((model) => `${path}: ${model} must have input and output, in dollars per million tokens`))
    return table as Prices
  } catch (error) {
    throw error instanceof ConfigError ? error : new ConfigError([`${path} is not valid JSON`])
  }
}

const isPrice = (price: Partial<Price> | undefined | null): boolean =>
  typeof price === 'object' &&
  price !== null &&
  [price.input, price.output, price.cachedInput ?? 0].every((n) => typeof n === 'number' && n >= 0)
