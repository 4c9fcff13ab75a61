import { toAborted } from './cancel.ts'
import type { Connection } from './connection.ts'
import { ReparteeError } from './errors.ts'
import { type Call, type RequestOptions, request } from './request.ts'
import type { ExportUserResponse } from './types.ts'

/** A session, a message, an earlier version of a reply, or the summary of old messages. `type` says which. */
export type ExportLine = ExportUserResponse & { [field: string]: unknown }

/** Requests an export and yields its lines as they arrive. Throws if the response breaks off. */
export async function* readExport(
  connection: Connection,
  call: Call,
  options: RequestOptions = {},
): AsyncGenerator<ExportLine, void> {
  const { signal } = options
  const reader = (await request(connection, call, options, async (response) => response)).body!.getReader()
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
        if (rest !== '') yield parse(rest)
        rest = next
      }
      if (done) return
    }
  } finally {
    signal?.removeEventListener('abort', close)
    close()
  }
}

function parse(line: string): ExportLine {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new ReparteeError('connection_failed', 'The answer is not one of Repartee: its lines are not JSON.', { cause })
  }
}

function brokeOff(cause: unknown): never {
  throw new ReparteeError('connection_failed', 'The answer broke off before its end.', { cause })
}
