import type { CallOwner } from './call-slots.ts'
import { inTurn, readBody, send } from './http.ts'

/**
 * As much of `fetch` as the vendors' packages use, over the HTTP of this folder: with its limits and its errors, and without redirects.
 * `onBytes` is told of all that comes, which the packages do not tell of each. `leaveOut` names a header's value that is not to be sent.
 * `mostValues` limits the JSON values of an answer, or of one event of a stream: the packages parse each at once.
 */
export function openFetch(
  owner: CallOwner,
  onBytes: (() => void) | undefined,
  leaveOut: string,
  mostValues: number,
): typeof fetch {
  return async (input, init) => {
    const signal = init?.signal ?? new AbortController().signal
    const headers = Object.fromEntries([...new Headers(init?.headers)].filter(([, value]) => !value.endsWith(leaveOut)))
    const response = await send(new URL(String(input)), { headers, body: String(init?.body), signal, owner })
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        // Nobody may be left to hear of it: the reader has turned away.
        const attempt = (act: () => void) => {
          try {
            act()
          } catch {}
        }
        const take = (slice: Uint8Array) => {
          controller.enqueue(slice)
          onBytes?.()
        }
        readBody(response, signal, take, {
          pieces: onBytes === undefined ? 'whole' : 'events',
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
