import assert from 'node:assert/strict'
import { hasFields } from './assert.ts'
import { INSIDE, MAX_FAILURE_CHARS } from './contract-checks.ts'
import type { Surface } from './surface-requests.ts'

export interface Answered {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

/** Asserts that a response has the format of its protocol. `isOutside`: the request may not belong to the protocol at all. */
export function checkForm(surface: Surface, answer: Answered, isOutside: boolean): void {
  const { status, headers, text } = answer
  assert.ok(status < 500, text)
  assert.ok(headers['x-request-id'], 'X-Request-Id')
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.ok(!text.includes('internal_error'), text)
  if (status < 300) {
    isSuccess[surface](answer)
    return
  }
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  assert.ok(text.length < MAX_FAILURE_CHARS, 'a refusal is no echo of the request')
  assert.doesNotMatch(text, INSIDE)
  const body = JSON.parse(text)
  if (isOutside && 'success' in body) isFailure['ai-sdk'](body)
  else isFailure[surface](body)
}

// biome-ignore lint/suspicious/noExplicitAny: what it must be is asserted
const isFailure: Record<Surface, (body: any) => void> = {
  openai({ error }) {
    hasFields(error, 'code', 'message', 'param', 'type')
    for (const name of ['code', 'message', 'type']) assert.ok(typeof error[name] === 'string' && error[name] !== '', name)
    assert.ok(error.param === null || typeof error.param === 'string')
  },
  'ai-sdk'({ success, error }) {
    assert.equal(success, false)
    const { code, message, requestId, details = [] } = error
    for (const told of [code, message, requestId]) assert.ok(typeof told === 'string' && told !== '')
    for (const detail of details) hasFields(detail, 'path', 'message')
  },
  mcp({ jsonrpc, error }) {
    assert.equal(jsonrpc, '2.0')
    assert.ok(Number.isInteger(error.code) && typeof error.message === 'string' && error.message !== '')
  },
}

export const eventsOf = (text: string): string[] =>
  text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []))
const isStream = ({ headers }: Answered) => String(headers['content-type']).startsWith('text/event-stream')

const isSuccess: Record<Surface, (answer: Answered) => void> = {
  openai(answer) {
    if (!isStream(answer)) return assert.equal(typeof JSON.parse(answer.text).object, 'string')
    const events = eventsOf(answer.text)
    const last = events.at(-1)!
    for (const event of events) if (event !== '[DONE]') assert.equal(typeof JSON.parse(event), 'object')
    if (last !== '[DONE]') assert.match(last, /^\{"(type":"response\.(completed|incomplete|failed)"|error":\{)/)
  },
  'ai-sdk'(answer) {
    if (answer.status === 204) return assert.equal(answer.text, '')
    const events = eventsOf(answer.text)
    assert.equal(events.at(-1), '[DONE]')
    for (const event of events.slice(0, -1)) assert.equal(typeof JSON.parse(event).type, 'string')
  },
  mcp(answer) {
    if (answer.status === 202) return assert.equal(answer.text, '')
    const messages = isStream(answer) ? eventsOf(answer.text) : [answer.text]
    const { jsonrpc, result, error } = JSON.parse(messages.at(-1)!)
    assert.equal(jsonrpc, '2.0')
    if (result === undefined) isFailure.mcp({ jsonrpc, error })
    else if (result.isError === true) assert.match(result.content[0].text, /^[a-z_]+: /)
  },
}
