const LOOK_EVERY_MS = 20
/** Ends a hang and measures nothing: a slow machine takes many times as long as a fast one. */
export const GIVE_UP_AFTER_MS = 600_000

/** Calls `look` until it returns something, and returns that. Throws if it never does. */
export async function until<T>(what: string, look: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  const deadline = performance.now() + GIVE_UP_AFTER_MS
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`${what}: not within ${GIVE_UP_AFTER_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
