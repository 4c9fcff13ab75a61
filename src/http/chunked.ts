import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { invalid } from '../core/errors.ts'
import { PieceCount } from '../core/pieces.ts'

const LEAST_BYTES = 64

const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined

/** Returns the body of a request. It fails with `invalid_request` if its chunks are too small. */
export function withoutSmallChunks(request: IncomingMessage, body: Readable): Readable {
  if (!isChunked(request)) return body
  const pieces = new PieceCount(LEAST_BYTES)
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (pieces.isTooMany(chunk))
        done(invalid('body', `comes in chunks that are too small: send ${LEAST_BYTES} bytes or more in each`))
      else done(null, chunk)
    },
  })
  body.on('error', (error) => checked.destroy(error))
  return body.pipe(checked)
}

/** Closes the connection after a response that is sent before the end of a chunked body. Node would otherwise read the rest, chunk by chunk. */
export function closeIfAnsweredEarly(request: IncomingMessage, response: ServerResponse): void {
  if (!isChunked(request)) return
  response.once('finish', () => {
    if (!request.complete) request.socket.destroySoon()
  })
}
