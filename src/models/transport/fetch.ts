import type { CallOwner } from '../call-slots.ts'
import { isObject, type Sift, siftEvents } from '../vendor-answers.ts'
import { inTurn, parseJson, readBody, readWhole, send } from './http.ts'

interface FetchOptions {
  /** Limits the JSON values of one event of a stream. The packages parse each at once. */
  mostValues: number
  /** For a streamed answer. */
  stream?: { sift: Sift; onBytes: () => void } | undefined
  /** For any other answer. */
  siftWhole: Sift
  /** Header values that end with this are not sent. */
  leaveOut: string
}

/** The part of `fetch` that the vendors' packages use, over this folder's HTTP: with its limits and errors, and without redirects. */
export function openFetch(owner: CallOwner, { mostValues, stream, siftWhole, leaveOut }: FetchOptions): typeof fetch {
  return async (input, init) => {
    const signal = init?.signal ?? new AbortController().signal
    const headers = Object.fromEntries([...new Headers(init?.headers)].filter(([, value]) => !value.endsWith(leaveOut)))
    const response = await send(new URL(String(input)), { headers, body: String(init?.body), signal, owner })
    if (stream === undefined) {
      const answer = await readWhole(response, signal, (text) => {
        const whole = parseJson(text)
        return JSON.stringify(isObject(whole) ? siftWhole(whole) : null)
      })
      return new Response(answer, { headers: { 'content-type': 'application/json' } })
    }
    const sift = siftEvents(stream.sift, mostValues)
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        // The reader may have left.
        const attempt = (act: () => void) => {
          try {
            act()
          } catch {}
        }
        const take = (slice: Uint8Array) => {
          const events = Buffer.from(sift(slice))
          if (events.length > 0) controller.enqueue(events)
          stream.onBytes()
        }
        readBody(response, signal, take, { pieces: 'events', takesLater: true, mostValues }).then(
          // At the end, the package parses the rest.
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
