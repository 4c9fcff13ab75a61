/** Milliseconds since 1970, UTC. Passed in, so that tests own the time. */
export type Clock = () => number
export type Ids = () => string
