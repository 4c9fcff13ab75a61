/** Milliseconds since 1970, UTC. Passed in, so that tests own the time. */
export type Clock = () => number
export type Ids = () => string

/** Reports a failure that nobody waits for, without the text of a message. */
export type Warn = (about: string, error?: unknown) => void
