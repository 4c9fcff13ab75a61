/** Reports progress: the current work, and how much of the whole is done. */
export type Tell = (what: string, done: number, of: number) => void
