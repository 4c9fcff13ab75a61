import assert from 'node:assert/strict'
import type { Answer } from './client.ts'

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** UTC, millisecond precision. */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Asserts exactly these fields, in any order. */
export function hasFields(value: object, ...names: string[]): void {
  assert.deepEqual(Object.keys(value).sort(), names.sort())
}

export function isOk(answer: Answer, status = 200): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.body.success, true)
}

/** Asserts the error format with this status and code. `path` is what the first detail must name. */
export function isError(answer: Answer, status: number, code: string, path?: string): void {
  assert.equal(answer.status, status, answer.text)
  hasFields(answer.body, 'success', 'error')
  const { success, error } = answer.body
  assert.equal(success, false)
  assert.equal(error.code, code, answer.text)
  assert.deepEqual(
    Object.keys(error).filter((name) => !['code', 'message', 'requestId', 'details'].includes(name)),
    [],
  )
  assert.ok(typeof error.message === 'string' && error.message !== '')
  assert.equal(error.requestId, answer.headers['x-request-id'])
  for (const detail of error.details ?? []) hasFields(detail, 'path', 'message')
  if (path !== undefined) assert.equal(error.details?.[0]?.path, path, answer.text)
}
