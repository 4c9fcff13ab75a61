import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { onePerConnection } from '../src/http/one-per-connection.ts'

test('requests that are answered at once leave others a turn of the event loop between them, whatever their connections', async () => {
  const inOrder = onePerConnection()
  let answered = 0
  const answer = (response: EventEmitter) => {
    answered++
    process.nextTick(() => response.emit('close'))
  }
  for (let connection = 0; connection < 20; connection++) {
    const request = { socket: new EventEmitter(), headers: {} } as unknown as IncomingMessage
    for (let i = 0; i < 50; i++) {
      const response = new EventEmitter()
      const earlier = inOrder(request, response as unknown as ServerResponse)
      if (earlier === undefined) answer(response)
      else void earlier.then(() => answer(response))
    }
  }
  assert.equal(answered, 20)
  let most = 0
  for (let before = answered; answered < 1_000; before = answered) {
    await nextTurn()
    most = Math.max(most, answered - before)
  }
  assert.ok(most <= 16, `${most} in one turn`)
})
