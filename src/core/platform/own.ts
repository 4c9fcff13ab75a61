/** Returns the value of a name in a table, if the table itself has it. `table[name]` also finds what every object inherits, such as `constructor`. */
export const own = <T>(table: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
