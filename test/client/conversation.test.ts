// A conversation as a page keeps it, without any framework: what it shows while things go well, and when they do not.
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { type ConnectionOptions, Conversation, type ConversationOptions, connect, Repartee } from '../../client/src/index.ts'
import { refuses, says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { startService } from '../support/service.ts'
import { Speaker } from '../support/speaker.ts'

const service = await startService()
after(() => service.stop())
const { model } = service
const address = { baseUrl: service.client.address.baseUrl, key: service.client.key }
const client = new Repartee(address)
const agentId = await service.newAgent()
let speaker: Speaker
beforeEach(() => {
  model.reset()
  speaker = new Speaker()
  model.behaviour = speaker.behaviour
})

function open(options: Partial<ConversationOptions> = {}, connection: Partial<ConnectionOptions> = {}) {
  const conversation = new Conversation(connect({ ...address, retryDelayMs: 1, ...connection }), { agentId, ...options })
  conversation.open()
  const state = () => conversation.getState()
  const shown = () =>
    state().messages.map(({ role, content, turn }) => [role, content, ...(turn === undefined ? [] : [turn])].join(' '))
  const is = (status: string) => until(status, () => state().status === status)
  return { conversation, state, shown, is }
}

describe('a conversation', () => {
  test('tells its listeners of every change, and is the same object until there is one', async () => {
    const { conversation, state, shown } = open()
    const seen: string[][] = []
    const leave = conversation.subscribe(() => seen.push(shown()))
    assert.equal(state(), state())
    const sent = conversation.send('Hello')
    await speaker.say('Good day.')
    await speaker.end()
    await sent
    assert.deepEqual(seen.at(0), ['USER Hello running'])
    assert.deepEqual(seen.at(-1), ['USER Hello', 'AI Good day.'])
    assert.equal(state().status, 'ready')
    leave()
    const { length } = seen
    model.behaviour = says('Bye.')
    await conversation.send('Bye')
    assert.equal(seen.length, length)
  })

  test('does one thing at a time', async () => {
    const { conversation, shown, is } = open()
    const sent = conversation.send('Hello')
    await conversation.send('Hello again')
    await conversation.regenerate()
    await speaker.say('Good day.')
    await is('streaming')
    await conversation.send('And again')
    await speaker.end()
    await sent
    assert.deepEqual(shown(), ['USER Hello', 'AI Good day.'])
  })

  test('that is stopped before anything was said has no reply, and no error', async () => {
    const { conversation, state, shown } = open()
    let isStopped = false
    conversation.subscribe(() => {
      if (state().status !== 'waiting' || isStopped) return
      isStopped = true
      void conversation.stop()
    })
    await conversation.send('Hello')
    assert.deepEqual(shown(), ['USER Hello cancelled'])
    assert.equal(state().error, undefined)
  })

  test('keeps the old reply where it cannot be made anew', async () => {
    const { conversation, state, shown } = open()
    model.behaviour = says('Good day.')
    await conversation.send('Hello')
    model.behaviour = refuses(400)
    await conversation.regenerate()
    assert.deepEqual(shown(), ['USER Hello', 'AI Good day.'])
    assert.equal(state().error?.code, 'model_failed')
    model.behaviour = says('Better.')
    await conversation.regenerate()
    assert.deepEqual(shown(), ['USER Hello', 'AI Better.'])
    assert.equal(state().error, undefined)
  })

  test('takes up a reply that is being made anew', async () => {
    model.behaviour = says('Good day.')
    const first = open()
    await first.conversation.send('Hello')
    speaker = new Speaker()
    model.behaviour = speaker.behaviour
    void first.conversation.regenerate()
    await speaker.say('Bet')
    await first.is('streaming')
    first.conversation.close()
    const second = open({ sessionId: first.state().sessionId })
    await second.is('streaming')
    assert.deepEqual(second.shown(), ['USER Hello running', 'AI Bet running'])
    await speaker.say('ter.')
    await speaker.end()
    await second.is('ready')
    assert.deepEqual(second.shown(), ['USER Hello', 'AI Better.'])
  })

  test('that is opened twice shows everything once', async () => {
    model.behaviour = says('Good day.')
    const first = open()
    await first.conversation.send('Hello')
    const { conversation, shown, is } = open({ sessionId: first.state().sessionId })
    conversation.close()
    conversation.open()
    await is('ready')
    await conversation.send('Again')
    assert.deepEqual(shown(), ['USER Hello', 'AI Good day. done', 'USER Again', 'AI Good day.'])
  })

  test('says what went wrong, with what was read and what was sent', async () => {
    const gone = open({ sessionId: crypto.randomUUID() })
    await gone.is('ready')
    assert.equal(gone.state().error?.code, 'session_not_found')
    const away = open({}, { baseUrl: 'http://127.0.0.1:9/v1', maxRetries: 1 })
    await away.conversation.send('Hello')
    assert.equal(away.state().error?.code, 'connection_failed')
    assert.deepEqual(away.shown(), ['USER Hello failed'])
    await away.conversation.send('Hello')
    assert.deepEqual(away.shown(), ['USER Hello failed'])
  })

  test('has the reply that came while its history was read', async () => {
    const first = open()
    void first.conversation.send('Hello')
    await speaker.say('Good day.')
    await first.is('streaming')
    const { sessionId } = first.state()
    let reads = 0
    const fetchSlowly: typeof fetch = async (...args) => {
      const response = await fetch(...args)
      if (String(args[0]).endsWith(sessionId!) && reads++ === 0) {
        await speaker.end()
        await first.is('ready')
      }
      return response
    }
    const { shown, is } = open({ sessionId }, { fetch: fetchSlowly })
    await is('ready')
    assert.deepEqual(shown(), ['USER Hello', 'AI Good day. done'])
  })

  test('whose line broke, so that it does not know what became of a message, does not send it a second time', async () => {
    let isBroken = true
    const fetchAndBreak: typeof fetch = async (...args) => {
      const response = await fetch(...args)
      if (!isBroken || !String(args[0]).endsWith('/messages')) return response
      await response.text()
      throw new TypeError('the line broke')
    }
    const { conversation, state, shown } = open({}, { fetch: fetchAndBreak, maxRetries: 0 })
    model.behaviour = says('Good day.')
    await conversation.send('Hello')
    assert.equal(state().error?.code, 'connection_failed')
    assert.deepEqual(shown(), ['USER Hello failed'])
    isBroken = false
    await conversation.send('Hello')
    assert.deepEqual(shown(), ['USER Hello', 'AI Good day.'])
    assert.equal((await client.sessions.get({ agentId, sessionId: state().sessionId! })).messages.length, 2)
    await conversation.send('Hello')
    assert.equal(shown().length, 4)
  })

  test('goes on where a listener throws, which is told as of any event', async (t) => {
    const told: unknown[] = []
    Object.assign(globalThis, { reportError: (error: unknown) => told.push(error) })
    t.after(() => Reflect.deleteProperty(globalThis, 'reportError'))
    const { conversation, state, shown } = open()
    conversation.subscribe(() => {
      throw new Error('of the page')
    })
    model.behaviour = says('Good day.')
    await conversation.send('Hello')
    assert.deepEqual(shown(), ['USER Hello', 'AI Good day.'])
    assert.equal(state().error, undefined)
    assert.match(String(told[0]), /of the page/)
  })

  test('that is closed reads no more, and its turn goes on', async () => {
    const { conversation, state, is } = open()
    void conversation.send('Hello')
    await speaker.say('Good ')
    await is('streaming')
    conversation.close()
    await speaker.say('day.')
    await speaker.end()
    const { sessionId } = state()
    await until('it is stored', async () => (await client.sessions.get({ agentId, sessionId: sessionId! })).messages.length === 2)
    assert.equal(state().messages.at(-1)?.content, 'Good ')
    conversation.open()
    await is('ready')
    assert.equal(state().messages.at(-1)?.content, 'Good day.')
  })

  test('makes the session that it is told to, and rates', async () => {
    const externalUserId = crypto.randomUUID()
    const { conversation, state } = open({ create: { name: 'Help', externalUserId }, include: ['usage'] })
    model.behaviour = says('Good day.')
    await conversation.send('Hello')
    const [session] = (await client.sessions.list({ agentId, externalUserId })).sessions
    assert.equal(session?.name, 'Help')
    const { id } = state().messages.at(-1)!
    await conversation.rate(id, 'down', 'Too short.')
    assert.deepEqual(state().messages.at(-1)?.feedback, { rating: 'down', comment: 'Too short.' })
    await conversation.rate('no-such-message', 'up')
    assert.equal(state().error?.code, 'invalid_request')
  })
})

/** A `fetch` whose connections break while `isBroken` is true, after the service has read the request. */
function brokenLine() {
  const line = { isBroken: false, attempts: 0 }
  const fetch: typeof globalThis.fetch = async (...args) => {
    const response = await globalThis.fetch(...args)
    if (!line.isBroken) return response
    line.attempts++
    await response.body?.cancel()
    throw new TypeError('the connection broke')
  }
  return { line, fetch }
}

describe('a conversation that loses its connection', () => {
  test('resumes the reply as soon as the browser is online again', async (t) => {
    const page = new EventTarget()
    Object.assign(globalThis, { addEventListener: page.addEventListener.bind(page) })
    t.after(() => Reflect.deleteProperty(globalThis, 'addEventListener'))
    const { line, fetch } = brokenLine()
    // The pauses of the client end only with the event.
    const { conversation, state, shown, is } = open(
      { reconnects: 1 },
      { fetch, maxRetries: 0, silenceMs: 300, retryDelayMs: 2e9 },
    )
    const { setTimeout } = globalThis
    t.mock.method(globalThis, 'setTimeout', (run: () => void, ms: number) => setTimeout(run, ms > 3_000 ? 600_000 : ms).unref())
    const sent = conversation.send('Hello')
    await speaker.say('Good ')
    await is('streaming')
    line.isBroken = true
    await until('it is broken', () => state().isBroken)
    assert.deepEqual(shown(), ['USER Hello running', 'AI Good  running'])
    await speaker.say('day.')
    await speaker.end()
    line.isBroken = false
    page.dispatchEvent(new Event('online'))
    await sent
    assert.deepEqual(shown(), ['USER Hello', 'AI Good day.'])
    assert.equal(state().isBroken, false)
  })

  test('fails after the attempts that it was given', async () => {
    const { line, fetch } = brokenLine()
    const { conversation, state, shown } = open({ reconnects: 2 }, { fetch, maxRetries: 0 })
    line.isBroken = true
    await conversation.send('Hello')
    assert.equal(line.attempts, 3)
    assert.deepEqual(shown(), ['USER Hello failed'])
    assert.equal(state().messages[0]?.error?.code, 'connection_failed')
  })

  test('and is stopped then has no error, and still knows what was not sent', async () => {
    const { line, fetch } = brokenLine()
    const { conversation, state, shown } = open({ reconnects: Number.POSITIVE_INFINITY }, { fetch, maxRetries: 0 })
    line.isBroken = true
    const sent = conversation.send('Hello')
    await until('it is broken', () => state().isBroken)
    await conversation.stop()
    await sent
    assert.deepEqual(shown(), ['USER Hello cancelled'])
    assert.equal(state().error, undefined)
    assert.equal(state().unsent, 'Hello')
  })

  test('completes the message in its place when it is retried, also behind another one', async () => {
    model.behaviour = says(({ body }) => `Reply to ${body.messages.at(-1)!.content}`)
    const sessionId = (await client.sessions.create({ agentId })).session.id
    const { line, fetch } = brokenLine()
    const { conversation, state, shown, is } = open({ sessionId }, { fetch, maxRetries: 0 })
    await is('ready')
    line.isBroken = true
    await conversation.send('First')
    line.isBroken = false
    await conversation.send('Second')
    await conversation.retry(state().messages[0]!.id)
    assert.deepEqual(shown(), ['USER First', 'AI Reply to First', 'USER Second', 'AI Reply to Second'])
    assert.equal((await client.sessions.get({ agentId, sessionId })).messages.length, 4)
  })
})

describe('a conversation with a history', () => {
  test('sends a failed message that others follow as a new one', async () => {
    const { conversation, state, shown } = open()
    model.behaviour = refuses(400)
    await conversation.send('First')
    model.behaviour = says('Good day.')
    await conversation.send('Second')
    await conversation.retry(state().messages[0]!.id)
    assert.deepEqual(shown(), ['USER First failed', 'USER Second', 'AI Good day.', 'USER First', 'AI Good day.'])
  })

  test('starts another session when its own was deleted', async () => {
    model.behaviour = says('Good day.')
    const { conversation, state, shown } = open()
    await conversation.send('Hello')
    const sessionId = state().sessionId!
    await client.sessions.delete({ agentId, sessionId })
    await conversation.send('Hello again')
    assert.deepEqual(shown(), ['USER Hello', 'AI Good day.', 'USER Hello again', 'AI Good day.'])
    assert.notEqual(state().sessionId, sessionId)
    assert.equal((await client.sessions.get({ agentId, sessionId: state().sessionId! })).messages.length, 2)
  })

  test('reads what the history lacks on demand', async () => {
    model.behaviour = says('**Good** day.')
    const first = open({ format: 'html' })
    await first.conversation.send('Hello')
    await first.conversation.rate(first.state().messages[1]!.id, 'up')
    await first.conversation.send('Hello again')
    const { conversation, state, is } = open({ sessionId: first.state().sessionId })
    await is('ready')
    assert.deepEqual(
      state().messages.map(({ needsDetails }) => needsDetails === true),
      [false, true, false, false],
    )
    assert.equal(state().messages[1]?.feedback, undefined)
    await conversation.loadDetails(state().messages[1]!.id)
    const reply = state().messages[1]!
    assert.deepEqual([reply.feedback, reply.format, reply.needsDetails], [{ rating: 'up' }, 'html', false])
  })

  test('tells replies of its own from those of the history, and stopped and rated ones', async () => {
    model.behaviour = says('Good day.')
    const first = open()
    await first.conversation.send('Hello')
    const { conversation, state, is } = open({ sessionId: first.state().sessionId })
    await is('ready')
    await conversation.regenerate()
    model.behaviour = speaker.behaviour
    const sent = conversation.send('And then?')
    await speaker.say('Half')
    await is('streaming')
    await conversation.rate(state().messages[1]!.id, 'up')
    await conversation.stop()
    await sent
    const seen = [first.state().messages[1]!, state().messages[1]!, state().messages[3]!]
    const facts = seen.map(({ turn, generation, feedback }) => `${turn} ${generation} ${feedback?.rating}`)
    assert.deepEqual(facts, ['undefined 1 undefined', 'undefined 2 up', 'cancelled 1 undefined'])
  })

  test('knows whether a message of the page before arrived', async () => {
    model.behaviour = says('Good day.')
    const first = open()
    const unsent: (string | undefined)[] = []
    first.conversation.subscribe(() => unsent.push(first.state().unsent))
    await first.conversation.send('Hello')
    assert.deepEqual([unsent.at(0), unsent.at(-1)], ['Hello', undefined])
    const { sessionId } = first.state()
    const [arrived, lost] = [open({ sessionId, unsent: 'Hello' }), open({ sessionId, unsent: 'And then?' })]
    await Promise.all([arrived.is('ready'), lost.is('ready')])
    assert.deepEqual([arrived.state().unsent, lost.state().unsent], [undefined, 'And then?'])
  })

  test('is left for a new one, whose options can be changed', async () => {
    const { conversation, state, shown, is } = open()
    void conversation.send('Hello')
    await speaker.say('Good')
    await is('streaming')
    const { sessionId } = state()
    await conversation.reset()
    assert.deepEqual([shown(), state().sessionId, state().status], [[], undefined, 'ready'])
    model.behaviour = says('**Good** day.')
    Object.assign(conversation.options, { format: 'html', create: { name: 'Help' } })
    await conversation.send('Hello')
    assert.deepEqual(shown(), ['USER Hello', 'AI <p><strong>Good</strong> day.</p>\n'])
    assert.equal(state().session?.name, 'Help')
    await conversation.reset(sessionId)
    await speaker.end()
    await is('ready')
    assert.deepEqual(shown(), ['USER Hello', 'AI Good'])
  })
})
