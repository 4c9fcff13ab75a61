import type { CallOwner } from './call-slots.ts'
import { failed } from './failure.ts'
import { inTurn, readBody, send } from './http.ts'
import { type Sift, siftEvents } from './vendor-events.ts'

interface FetchOptions {
  /** Limits the JSON values of an answer, or of one event of a stream. The packages parse each at once. */
  mostValues: number
  /** For an answer that is a stream. */
  stream?: { sift: Sift; onBytes: () => void } | undefined
  /** The value of a header that is not to be sent. */
  leaveOut?: string
}

/** As much of `fetch` as the vendors' packages use, over the HTTP of this folder: with its limits and its errors, and without redirects. For one call. */
export function openFetch(owner: CallOwner, { mostValues, stream, leaveOut }: FetchOptions): typeof fetch {
  let isCalled = false
  return async (input, init) => {
    // A package goes on asking where an answer says that it is to be continued.
    if (isCalled) throw failed('the provider did not end its answer')
    isCalled = true
    const signal = init?.signal ?? new AbortController().signal
    const headers = Object.fromEntries(
      [...new Headers(init?.headers)].filter(([, value]) => leaveOut === undefined || !value.endsWith(leaveOut)),
    )
    const response = await send(new URL(String(input)), { headers, body: String(init?.body), signal, owner })
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        // Nobody may be left to hear of it: the reader has turned away.
        const attempt = (act: () => void) => {
          try {
            act()
          } catch {}
        }
        const sift = stream && siftEvents(stream.sift, mostValues)
        const take = (slice: Uint8Array) => {
          const kept = sift === undefined ? slice : Buffer.from(sift(slice))
          if (kept.length > 0) controller.enqueue(kept)
          stream?.onBytes()
        }
        readBody(response, signal, take, {
          pieces: stream === undefined ? 'whole' : 'events',
          takesLater: true,
          mostValues,
        }).then(
          // The package parses what it has then.
          () => inTurn(response, () => attempt(() => controller.close())),
          (error: unknown) => attempt(() => controller.error(error)),
        )
      },
      cancel() {
        response.destroy()
      },
    })
    const { 'content-type': type } = response.headers
    return new Response(body, { status: 200, headers: type === undefined ? {} : { 'content-type': type } })
  }
}
