// Places for requests that run at the same time: keys take turns, and what rests holds its place.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Places } from '../src/http/places.ts'

/** As much of a request and its reply as places look at. */
function requestOf(id: string) {
  const socket = Object.assign(new EventEmitter(), { destroyed: false })
  const response = Object.assign(new EventEmitter(), { socket })
  const request = { caller: { id }, raw: { socket } } as unknown as FastifyRequest
  return { request, reply: { raw: response } as unknown as FastifyReply, leave: () => response.emit('close') }
}

test('keys take turns', async () => {
  const places = new Places(2)
  const order: string[] = []
  const begin = async (id: string, name: string) => {
    const one = requestOf(id)
    await places.take(one.request, one.reply)
    order.push(name)
    return one
  }
  const [a1, b1] = [await begin('a', 'a1'), await begin('b', 'b1')]
  const [a2, , c1] = [begin('a', 'a2'), begin('a', 'a3'), begin('c', 'c1')]
  a1.leave()
  ;(await a2).leave()
  await c1
  assert.deepEqual(order, ['a1', 'b1', 'a2', 'c1'])
  b1.leave()
})

test('a place rests after work that others wait behind', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const places = new Places(2)
  const [first, second] = [requestOf('a'), requestOf('a')]
  let isDone = false
  await places.withRest(first.request, first.reply, async () => {})
  const waiting = places.withRest(second.request, second.reply, async () => {
    isDone = true
  })
  await new Promise(setImmediate)
  assert.equal(isDone, false)
  context.mock.timers.tick(1_000)
  await waiting
  assert.equal(isDone, true)
})

test('work is not done for a caller who has left', async () => {
  const places = new Places(2)
  const [first, second] = [requestOf('a'), requestOf('a')]
  const { promise, resolve } = Promise.withResolvers<void>()
  const running = places.withRest(first.request, first.reply, () => promise)
  const waiting = places.withRest(second.request, second.reply, async () => assert.fail('it is done'))
  second.leave()
  await assert.rejects(waiting, { code: 'unavailable' })
  resolve()
  await running
})
