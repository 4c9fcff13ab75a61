import { closeSync, openSync } from 'node:fs'

const LOOK_EVERY_MS = 1_000
const GONE = new Set(['EMFILE', 'ENFILE'])

/** Tells when no file or connection more can be opened, and when that is over: whoever connects meanwhile is turned away by the system, without a word. */
export function watchDescriptors(warn: (about: string) => void): { stop(): void } {
  let areGone = false
  const timer = setInterval(() => {
    const code = tryOne()
    if (!areGone && code !== undefined && GONE.has(code))
      warn(
        `no more files and connections can be opened (${code}): raise the limit of open files, or lower REPARTEE_MAX_CONNECTIONS`,
      )
    if (areGone && code === undefined) warn('files and connections can be opened again')
    areGone = code !== undefined && GONE.has(code)
  }, LOOK_EVERY_MS).unref()
  return { stop: () => clearInterval(timer) }
}

/** Undefined where one can be opened. */
function tryOne(): string | undefined {
  try {
    closeSync(openSync('/dev/null', 'r'))
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}
