import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerIdOf } from '../../core/api-key.ts'
import { ReparteeError } from '../../core/errors.ts'
import { JobThread } from '../../core/fairness/job-thread.ts'
import { moduleBeside } from '../../core/platform/module-beside.ts'
import { parseJson } from '../route/body.ts'
import type { ParsedJson } from './json-worker.ts'

/** Handling a request takes up to four times as long as parsing its body. Four fifths of the time are for others. */
const REST_TIMES = 16
/** Parsing more would block other requests for more than 50 ms. */
const LARGE_BYTES = 2_097_152

const thread = new JobThread<Buffer, ParsedJson>({
  module: moduleBeside(import.meta.url, './json-worker'),
  // The largest body takes some 200 MB.
  heapMb: 1_024,
  broken: 'The body could not be parsed. Send it as a file.',
})

/**
 * Runs `parseJson` for a body of more than `UNIT_BYTES`, one at a time for each key. Then the slot of the key rests: large bodies without a pause would leave
 * no time for others. Throws `unavailable` if the caller disconnects first.
 */
export async function parseJsonInTurn(request: FastifyRequest, reply: FastifyReply, bytes: Buffer): Promise<unknown> {
  const { caller, agent, server } = request
  if (caller === undefined || bytes.length > LARGE_BYTES)
    return parseLargeJson(bytes, caller === undefined ? '' : callerIdOf(caller))
  return server.bodyPlaces.withRest(request, reply, agent?.id, async () => parseJson(bytes), REST_TIMES)
}

/** Runs `parseJson` for a large body in a thread, in which callers take turns. The bytes cannot be used afterwards. */
export async function parseLargeJson(bytes: Buffer, caller: string): Promise<unknown> {
  if (bytes.length <= LARGE_BYTES) return parseJson(bytes)
  const isWhole = bytes.byteLength === bytes.buffer.byteLength
  const parsed = await thread.run(caller, bytes, isWhole ? [bytes.buffer as ArrayBuffer] : [])
  // Lets other requests run first, because the code that follows copies the text again.
  await nextTurn()
  if ('value' in parsed) return parsed.value
  throw new ReparteeError(parsed.code, parsed.message, { details: parsed.details })
}
