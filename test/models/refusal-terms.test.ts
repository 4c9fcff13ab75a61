// What a log holds of a provider's refusal: its short names, and nothing that may be a key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toLogged } from '../../src/log.ts'
import { refused } from '../../src/models/transport/failure.ts'

const logged = (error: unknown) => (toLogged(refused(400, {}, JSON.stringify({ error }))) as { cause: object }).cause

test('the log says which field a provider refuses, and why', () => {
  for (const error of [
    { type: 'invalid_request_error', code: 'unsupported_value', param: 'messages[0].content' },
    { code: 429, status: 'RESOURCE_EXHAUSTED', param: 'generationConfig.maxOutputTokens' },
  ])
    assert.deepEqual(logged({ message: 'The prompt "secret" is refused.', ...error }), {
      status: 400,
      ...Object.fromEntries(Object.entries(error).map(([name, term]) => [name, String(term)])),
    })
})

test('a key in the place of a name stays out of the log', () => {
  for (const key of [
    'sk-proj-aB3xK9qLmN0pQrStUvWx',
    'AIzaSyD-9tSrke72PouQMnMX',
    'deadbeef01234567',
    'x'.repeat(40),
    'a_'.repeat(40),
  ])
    assert.deepEqual(logged({ type: key, code: key, param: key }), { status: 400 })
})
