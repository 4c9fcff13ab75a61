/** Hears how long work goes: what is being done now, and how much of the whole is behind it. */
export type Tell = (what: string, done: number, of: number) => void
