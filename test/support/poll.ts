const LOOK_EVERY_MS = 20
/** Only ends hangs; not a measurement. Slow machines take many times as long as fast ones. */
export const GIVE_UP_AFTER_MS = 600_000

/** Calls `look` until it returns something. Resolves to that value. Throws on timeout. */
export async function until<T>(what: string, look: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  const deadline = performance.now() + GIVE_UP_AFTER_MS
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`${what}: not within ${GIVE_UP_AFTER_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
