import type { Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** More than the queue of connections that are not accepted yet, which has 511 places by default. */
const MOST_WAITING = 1_000

/** Accepts the connections that wait in the queue of the listener. Node.js accepts one in each turn of the event loop. Closing a listener resets the others. */
export async function acceptWaiting(server: Server): Promise<void> {
  let accepted = 0
  const count = () => {
    accepted++
  }
  server.on('connection', count)
  let before: number
  do {
    before = accepted
    await nextTurn()
  } while (accepted > before && accepted < MOST_WAITING)
  server.off('connection', count)
}
