import { toAborted } from './cancel.ts'
import { ReparteeError } from './errors.ts'

/** Yields the values of a JSON Lines response as they arrive. Throws if the response breaks off. */
export async function* readLines<T>(open: () => Promise<Response>, signal: AbortSignal | undefined): AsyncGenerator<T, void> {
  const reader = (await open()).body!.getReader()
  const decoder = new TextDecoder()
  const close = () => void reader.cancel().catch(() => {})
  signal?.addEventListener('abort', close)
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(brokeOff)
      if (signal?.aborted) throw toAborted(signal)
      const [end, ...lines] = decoder.decode(value, { stream: !done }).split('\n')
      rest += end
      for (const next of done ? [...lines, ''] : lines) {
        if (rest !== '') yield parse<T>(rest)
        rest = next
      }
      if (done) return
    }
  } finally {
    signal?.removeEventListener('abort', close)
    close()
  }
}

function parse<T>(line: string): T {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new ReparteeError('connection_failed', 'The answer is not one of Repartee: its lines are not JSON.', { cause })
  }
}

function brokeOff(cause: unknown): never {
  throw new ReparteeError('connection_failed', 'The answer broke off before its end.', { cause })
}
