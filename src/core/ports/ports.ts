/** Milliseconds since 1970, UTC. Injected, so that tests control the time. */
export type Clock = () => number
export type Ids = () => string

/** Logs a failure that no caller waits for, without the text of a message. */
export type Warn = (about: string, error?: unknown) => void
