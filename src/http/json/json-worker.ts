import { parentPort } from 'node:worker_threads'
import { type ErrorCode, type ErrorDetail, invalid, ReparteeError } from '../../core/errors.ts'
import { parseJson } from '../route/body.ts'

/** The parsed body, or the fields of the error. */
export type ParsedJson = { value: unknown } | { code: ErrorCode; message: string; details: ErrorDetail[] | undefined }

/** Values that are sent between threads cannot be as deep as values that are parsed. */
const MAX_DEPTH = 100

parentPort!.on('message', (bytes: Uint8Array) => {
  parentPort!.postMessage(parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))
})
// Reports that the worker is loaded.
parentPort!.postMessage(undefined)

function parse(bytes: Buffer): ParsedJson {
  try {
    const value = parseJson(bytes)
    if (isDeeperThan(MAX_DEPTH, value)) throw invalid('body', `must not nest lists and objects deeper than ${MAX_DEPTH}`)
    return { value }
  } catch (error) {
    if (!(error instanceof ReparteeError)) throw error
    const { code, message, details } = error
    return { code, message, details }
  }
}

function isDeeperThan(most: number, json: unknown): boolean {
  let level = [json]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    level = level
      .filter((value) => typeof value === 'object' && value !== null)
      .flatMap((value) => Object.values(value as object))
  }
  return false
}
