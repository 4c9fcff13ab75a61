import { closeSync, openSync } from 'node:fs'

const LOOK_EVERY_MS = 1_000
const GONE = new Set(['EMFILE', 'ENFILE'])

/** Warns when the process has run out of file descriptors, and when that is over. Until then, the system rejects connections without an error. */
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

/** Returns the error code of an attempt to open a file; undefined if it succeeds. */
function tryOne(): string | undefined {
  try {
    closeSync(openSync('/dev/null', 'r'))
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}
