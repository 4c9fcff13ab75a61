import type { Socket } from 'node:net'

/** Contains at most 680 chunks of one byte, or 230 heads. */
const SLICE_BYTES = 4_096

/**
 * Passes on the reads of a connection in slices of 4,096 bytes. Node parses each read to its end, with a callback per chunk and head. A read of 64 kB may
 * contain ten thousand. Calls `goesOn` before each slice; if it returns false, the rest is dropped.
 */
export function readInSlices(socket: Socket, goesOn: (bytes: number) => boolean): void {
  const { push } = socket
  socket.push = (read: Buffer | null) => {
    if (read === null) return push.call(socket, read)
    let wantsMore = true
    for (let at = 0; at < read.length; at += SLICE_BYTES) {
      const slice = read.length <= SLICE_BYTES ? read : read.subarray(at, at + SLICE_BYTES)
      if (!goesOn(slice.length)) return true
      wantsMore = push.call(socket, slice)
    }
    return wantsMore
  }
}
