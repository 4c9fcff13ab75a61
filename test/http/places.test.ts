// Places for requests that run at the same time: keys take turns, and what rests holds its place.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseJsonInTurn } from '../../src/http/json/large-json.ts'
import { importInTurn } from '../../src/http/server/import-places.ts'
import { Places } from '../../src/http/server/places.ts'

/** As much of a request and its reply as places look at. */
function requestOf(id: string, userId?: string) {
  const socket = Object.assign(new EventEmitter(), { destroyed: false })
  const response = Object.assign(new EventEmitter(), { socket })
  const request = { caller: { id, userId }, raw: { socket } } as unknown as FastifyRequest
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

test('users of a key take turns', async () => {
  const places = new Places(2)
  const order: string[] = []
  const begin = async (userId: string, name: string) => {
    const one = requestOf('key', userId)
    await places.take(one.request, one.reply)
    order.push(name)
    return one
  }
  const a1 = await begin('a', 'a1')
  const [a2, , b1] = [begin('a', 'a2'), begin('a', 'a3'), begin('b', 'b1')]
  a1.leave()
  ;(await a2).leave()
  await b1
  assert.deepEqual(order, ['a1', 'a2', 'b1'])
})

/** Has keys ask for places about agents, and says in which order they get them. */
function startIn(places: Places) {
  const begun: string[] = []
  const begin = async (key: string, agentId: string) => {
    const one = requestOf(key)
    await places.take(one.request, one.reply, agentId)
    begun.push(`${key} ${agentId}`)
    return one
  }
  return { begun, begin }
}

test('an agent leaves a place to others, whatever keys ask it', async () => {
  const { begun, begin } = startIn(new Places(3))
  const first = await begin('1', 'a')
  begin('1', 'a')
  await begin('2', 'a')
  begin('3', 'a')
  const other = await begin('4', 'b')
  assert.deepEqual(begun, ['1 a', '2 a', '4 b'])
  first.leave()
  other.leave()
  await new Promise(setImmediate)
  assert.deepEqual(begun.slice(3), ['1 a'])
})

test('keys that are for one agent alone count as that agent, also if the path names none', async () => {
  const places = new Places(2)
  const begun: string[] = []
  const begin = async (id: string, agentIds: string[]) => {
    const { request, reply } = requestOf(id)
    Object.assign(request.caller!, { agentIds })
    await places.take(request, reply)
    begun.push(id)
  }
  void begin('one', ['a'])
  void begin('two', ['a'])
  await begin('other', ['b'])
  assert.deepEqual(begun, ['one', 'other'])
})

test('a key leaves a place to others, whatever agents it asks about', async () => {
  const { begun, begin } = startIn(new Places(3))
  const first = await begin('a', '1')
  await begin('a', '2')
  begin('a', '3')
  const other = await begin('b', '4')
  assert.deepEqual(begun, ['a 1', 'a 2', 'b 4'])
  first.leave()
  other.leave()
  await new Promise(setImmediate)
  assert.deepEqual(begun.slice(3), ['a 3'])
})

test('imports of one agent leave a place to others, whatever keys they come with', async () => {
  const server = { importPlaces: new Places(2) }
  const begun: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const begin = (id: string, agentId: string) => {
    const { request, reply } = requestOf(id)
    Object.assign(request, { headers: {}, server })
    return importInTurn({ request, reply, agentId }, 1_000, () => {
      begun.push(`${id} ${agentId}`)
      return promise
    })
  }
  const all = [begin('a', 'one'), begin('b', 'one'), begin('c', 'one'), begin('d', 'two')]
  await new Promise(setImmediate)
  assert.deepEqual(begun, ['a one', 'd two'])
  resolve()
  await all[0]
})

test('a place rests after work that others wait behind', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const places = new Places(2)
  const [first, second] = [requestOf('a'), requestOf('a')]
  let isDone = false
  await places.withRest(first.request, first.reply, 'one', async () => {})
  const waiting = places.withRest(second.request, second.reply, 'one', async () => {
    isDone = true
  })
  await new Promise(setImmediate)
  assert.equal(isDone, false)
  context.mock.timers.tick(1_000)
  await waiting
  assert.equal(isDone, true)
})

test('large bodies of a key are parsed one at a time, with a rest after each', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const server = { bodyPlaces: new Places(2) }
  const order: string[] = []
  const begin = (id: string, name: string) => {
    const one = requestOf(id)
    Object.assign(one.request, { server })
    const parsed = parseJsonInTurn(one.request, one.reply, Buffer.from(`{"name":"${name}"}`))
    return { ...one, parsed: parsed.then((body) => void order.push((body as { name: string }).name)) }
  }
  const [a1, a2, a3, b1] = [begin('a', 'a1'), begin('a', 'a2'), begin('a', 'a3'), begin('b', 'b1')]
  await Promise.all([a1.parsed, b1.parsed])
  await new Promise(setImmediate)
  assert.deepEqual(order, ['a1', 'b1'])
  a2.leave()
  await assert.rejects(a2.parsed, { code: 'unavailable' })
  context.mock.timers.tick(1_000)
  await a3.parsed
  assert.deepEqual(order, ['a1', 'b1', 'a3'])
})

test('work is not done for a caller who has left', async () => {
  const places = new Places(2)
  const [first, second] = [requestOf('a'), requestOf('a')]
  const { promise, resolve } = Promise.withResolvers<void>()
  const running = places.withRest(first.request, first.reply, 'one', () => promise)
  const waiting = places.withRest(second.request, second.reply, 'one', async () => assert.fail('it is done'))
  second.leave()
  await assert.rejects(waiting, { code: 'unavailable' })
  resolve()
  await running
})

test('imports wait for a place unless they are tiny', async () => {
  const server = { importPlaces: new Places(2), smallImportPlaces: new Places(4) }
  const { promise, resolve } = Promise.withResolvers<void>()
  const begun: string[] = []
  const begin = (name: string, messages: number, headers: Record<string, string>) => {
    const { request, reply } = requestOf('a')
    Object.assign(request, { headers, server })
    return importInTurn({ request, reply, agentId: 'one' }, messages, () => {
      begun.push(name)
      return promise
    })
  }
  const all = [
    begin('large', 10, { 'content-length': '1000000' }),
    begin('large, second', 101, { 'content-length': '1000' }),
    begin('of unknown length', 10, {}),
    begin('small', 10, { 'content-length': '16385' }),
    begin('small, second', 11, { 'content-length': '100' }),
    begin('small, third', 100, { 'content-length': '65536' }),
    begin('tiny', 10, { 'content-length': '16384' }),
  ]
  await new Promise(setImmediate)
  // A key may have one place for large imports, and two for small ones.
  assert.deepEqual(begun.sort(), ['large', 'small', 'small, second', 'tiny'])
  resolve()
  await Promise.all(all)
})
