import type { ClientRequest } from 'node:http'

// An `import` of node:http reads everything that it exports, and with its WebSocket the whole of undici comes along: 13 MB, and a tenth of a start.
export const { request: httpRequest, STATUS_CODES } = process.getBuiltinModule('node:http')
export const { request: httpsRequest } = process.getBuiltinModule('node:https')

const MOST_INFORMATION = 20

/** Destroys a request whose server sends more than 20 informational responses (1xx) before its answer. Nothing else ends them. Calls `onTooMany` first. */
export function limitInformation(request: ClientRequest, onTooMany: () => void): void {
  let count = 0
  request.on('information', () => {
    if (++count <= MOST_INFORMATION) return
    onTooMany()
    request.destroy()
  })
}
