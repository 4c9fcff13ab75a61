/** Reports progress: the current work, and how much of the whole is done. */
export type ReportProgress = (what: string, done: number, of: number) => void
