import type { Socket } from 'node:net'

/** Has room for 680 chunks of one byte, or 230 heads. */
const SLICE_BYTES = 4_096

/**
 * Hands over what a connection reads in slices of 4,096 bytes. Node parses what it is given to its end, with a callback for each chunk and each head, and one read of 64 kB may hold
 * ten thousand. Between slices a caller can end that: as soon as `goesOn` returns false, what was read is dropped. `goesOn` is called before each slice.
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
