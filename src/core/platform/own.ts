/** Returns an own property of a table, or undefined. `table[name]` also finds inherited properties, such as `constructor`. */
export const own = <T>(table: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
