import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ReparteeError } from '../../src/core/errors.ts'
import type { ChatModel, ModelReply, ModelRequest } from '../../src/core/ports/model.ts'
import {
  type Behaviour,
  cuts,
  drips,
  endsEarly,
  fails,
  failsOpen,
  finishes,
  floods,
  garbage,
  hangs,
  type ModelServer,
  refuses,
  says,
  sends,
  stalls,
  streams,
  thinks,
} from '../support/model-server.ts'

export const request = (change: Partial<ModelRequest> = {}): ModelRequest => ({
  prompt: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello' },
  ],
  temperature: null,
  maxOutputTokens: null,
  grounding: {
    agentId: 'a',
    question: 'Hello',
    history: [],
    retrieval: { query: '', standsAlone: true, hits: [], confidence: 0 },
    minScore: null,
  },
  ...change,
})

export const never = new AbortController().signal

interface Vendor {
  name: string
  /** A model that talks to the server. */
  open: () => ChatModel
  /** The protocol says how many tokens came from a cache. */
  countsCached?: boolean
  /** The protocol can say that a filter stopped the reply. */
  filters?: boolean
}

/** What every model behind a provider must keep, for replies that come whole and for those that come as a stream. */
export function modelContract(server: () => ModelServer, { name, open, countsCached = true, filters = true }: Vendor): void {
  for (const streaming of [false, true]) {
    describe(`model contract: ${name}, ${streaming ? 'streaming' : 'whole'}`, () => {
      const ask = async (behaviour: Behaviour, change: Partial<ModelRequest> = {}, signal: AbortSignal = never) => {
        server().reset()
        server().behaviour = behaviour
        const pieces: string[] = []
        const call = streaming ? { signal, onText: (text: string) => pieces.push(text) } : { signal }
        const reply = await open().generate(request(change), call)
        return { ...reply, pieces }
      }
      const failure = async (behaviour: Behaviour): Promise<ReparteeError> => {
        const error = await ask(behaviour).then(
          (reply: ModelReply) => assert.fail(`it replied: ${reply.text}`),
          (error: ReparteeError) => error,
        )
        assert.equal(error.code, 'model_failed', String(error.stack))
        assert.doesNotMatch(error.message, /the-words-of-the-provider|127\.0\.0\.1|sk-test/)
        return error
      }

      test('replies with the text, its end, and the tokens that it took', async () => {
        const { text, usage, finish } = await ask(says('**Hi** there'))
        assert.deepEqual([text, finish], ['**Hi** there', 'stop'])
        assert.deepEqual(usage, { tokensIn: 21, tokensOut: 7, tokensCached: countsCached ? 5 : 0 })
      })

      test('asks for a stream only where somebody reads along', async () => {
        await ask(says('Yes.'))
        assert.equal(server().calls[0]!.streams, streaming)
      })

      test('sends the messages in their order, with their roles', async () => {
        const prompt: ModelRequest['prompt'] = [
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: 'One' },
          { role: 'assistant', content: 'Two' },
          { role: 'user', content: 'Three' },
        ]
        await ask(says('Four'), { prompt })
        assert.deepEqual(server().lastPrompt, prompt)
      })

      test('hands on temperature and longest reply', async () => {
        await ask(says('Yes.'), { temperature: 0.25, maxOutputTokens: 77 })
        assert.match(JSON.stringify(server().calls[0]!.body), /"temperature":0\.25/)
        assert.match(JSON.stringify(server().calls[0]!.body), /:77\b/)
      })

      test('asks for JSON of the schema', async () => {
        const schema = {
          type: 'object',
          properties: { marker: { type: 'string' } },
          required: ['marker'],
          additionalProperties: false,
        }
        const { text } = await ask(says('{"marker":"x"}'), { json: { name: 'mark', schema } })
        assert.deepEqual(JSON.parse(text), { marker: 'x' })
        assert.match(JSON.stringify(server().calls[0]!.body), /"marker":\{"type":"string"\}/)
      })

      test('bytes that are cut anywhere make the same text', async () => {
        const text = 'Grüße 😀 漢字 und mehr'
        assert.equal((await ask(drips(text))).text, text)
      })

      for (const status of [400, 401, 403, 404, 413, 422]) {
        test(`an answer of ${status} is a failure that stays`, async () => {
          assert.equal((await failure(refuses(status))).transient, false)
        })
      }

      for (const status of [408, 409, 425, 429, 500, 502, 503, 529]) {
        test(`an answer of ${status} is a failure that may pass`, async () => {
          assert.equal((await failure(refuses(status))).transient, true)
        })
      }

      test('a redirect is a failure: it would carry the key elsewhere', async () => {
        assert.equal((await failure(refuses(307, { location: '/elsewhere' }))).transient, false)
        assert.equal(server().calls.length, 1)
      })

      test('tells for how long the provider wants to be left alone', async () => {
        assert.equal((await failure(refuses(429, { 'retry-after': '12' }))).retryAfter, 12)
        assert.equal((await failure(refuses(503, { 'retry-after-ms': '1500' }))).retryAfter, 2)
        const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()
        const { retryAfter } = await failure(refuses(429, { 'retry-after': inAnHour }))
        assert.ok(retryAfter! > 3_000 && retryAfter! <= 3_600, String(retryAfter))
        assert.equal((await failure(refuses(429, { 'retry-after': 'soon' }))).retryAfter, undefined)
        for (const long of ['1e308', '200000', 'Fri, 31 Dec 9999 23:59:59 GMT'])
          assert.equal((await failure(refuses(429, { 'retry-after': long }))).retryAfter, 86_400)
      })

      test('the words of a refusal are kept as its cause', async () => {
        assert.match(String((await failure(refuses(400))).cause), /the-words-of-the-provider/)
      })

      for (const [what, behaviour] of Object.entries<Behaviour>({
        'a connection that breaks in the middle': cuts,
        'an end that never came': endsEarly('Half of a'),
        'garbage in the middle': garbage('Half of a'),
        'a failure in the middle': fails('Half of a'),
        'something that is no reply': sends('<html>'),
        'JSON of another shape': sends('[1]'),
        'a stream of another shape': sends('data: [1]\n\n', 'text/event-stream'),
        'nothing at all': sends(''),
        'a reply without text': says(''),
        'a reply of blanks': says(' \n'),
      })) {
        test(`${what} is a failure that may pass, never a short reply`, async () => {
          assert.equal((await failure(behaviour)).transient, true)
        })
      }

      test('a web page is no reply, and would be none the next time', async () => {
        const error = await failure(sends('<!doctype html><p>Hello</p>', 'text/html; charset=utf-8'))
        assert.equal(error.transient, false)
        assert.match(error.message, /web page/)
      })

      test('a connection that breaks before the answer is a failure that may pass', async () => {
        assert.equal((await failure((_call, response) => response.socket?.destroy())).transient, true)
      })

      test('more than a reply can hold is a failure, and the connection is closed', async () => {
        assert.equal((await failure(floods)).transient, false)
        await server().abandoned(1)
      })

      test('an answer, or an event of a stream, that is too long to be parsed in one go is a failure', async () => {
        assert.equal((await failure(says('x'.repeat(5_000_000)))).transient, false)
        assert.equal((await ask(says('x'.repeat(1_000_000)))).text.length, 1_000_000)
        // As text of another type, too, in lines that each are short.
        const lines = Buffer.from(`${' '.repeat(60_000)}\n`.repeat(80))
        const inLines: Behaviour = (_call, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end(lines)
        // Ollama sends a JSON text in each line.
        const why = name === 'Ollama' ? /before its end/ : /more than a reply can hold/
        if (streaming) assert.match((await failure(inLines)).message, why)
        if (streaming) assert.equal((await ask(streams(['x'.repeat(1_500_000), 'y'.repeat(1_500_000)]))).text.length, 3_000_000)
      })

      test('an answer, or an event of a stream, of very many values is a failure long before it is large', async () => {
        const json = `{"a":${'['.repeat(300_000)}`
        assert.match((await failure(sends(json, 'application/json'))).message, /more than a reply can hold/)
        if (streaming)
          assert.match((await failure(sends(`data: ${json}`, 'text/event-stream'))).message, /more than a reply can hold/)
      })

      test('a reply at the limit of its length says so', async () => {
        assert.equal((await ask(finishes('Half of a', 'length'))).finish, 'length')
      })

      if (filters) {
        test('a reply that a filter stopped says so, and is a failure that stays where nothing of it is left', async () => {
          assert.equal((await ask(finishes('Half of a', 'filtered'))).finish, 'filtered')
          assert.equal((await failure(finishes('', 'filtered'))).transient, false)
        })
      }

      for (const [when, behaviour] of Object.entries({
        'before the answer': hangs,
        'in the middle of it': stalls('Half of a'),
      })) {
        test(`stops when it is told to, ${when}, and closes the connection`, async () => {
          const abort = new AbortController()
          const reply = ask(behaviour, {}, abort.signal)
          await server().received(1)
          setTimeout(() => abort.abort(), 30)
          await assert.rejects(reply, { code: 'model_failed', transient: false })
          await server().abandoned(1)
        })
      }

      test('does not even ask where it was told to stop before', async () => {
        await assert.rejects(ask(says('Yes.'), {}, AbortSignal.abort()), { code: 'model_failed', transient: false })
        assert.equal(server().calls.length, 0)
      })

      if (!streaming) return

      test('hands the text over piece by piece, while it comes', async () => {
        server().reset()
        server().behaviour = stalls('Half of a')
        const abort = new AbortController()
        const { promise: heard, resolve } = Promise.withResolvers<string>()
        const onText = (text: string) => text !== '' && resolve(text)
        const reply = open().generate(request(), { signal: abort.signal, onText })
        assert.equal(await heard, 'Half of a')
        abort.abort()
        await assert.rejects(reply, { code: 'model_failed' })
        const said = ['One ', 'two ', 'three.']
        const pieces: string[] = []
        // Each is sent when the one before was heard: pieces that come together may be told as one.
        const gates = said.map(() => Promise.withResolvers<void>())
        gates[0]!.resolve()
        server().behaviour = streams(said, { gates: gates.map((gate) => gate.promise) })
        const hear = (piece: string) => {
          if (piece !== '') gates[pieces.push(piece)]?.resolve()
        }
        const { text } = await open().generate(request(), { signal: never, onText: hear })
        assert.equal(text, said.join(''))
        assert.deepEqual(pieces, said)
      })

      test('a failure in the middle closes the connection, also where the provider keeps it open', async () => {
        assert.equal((await failure(failsOpen('Half of a'))).transient, true)
        await server().abandoned(1)
      })

      test('signs of life without text are handed over as such, and are no text', async () => {
        const { text, pieces } = await ask(thinks('At last.'))
        assert.equal(text, 'At last.')
        assert.ok(pieces.indexOf('At last.') >= 2, JSON.stringify(pieces))
        assert.equal(pieces.join(''), 'At last.')
      })
    })
  }
}
