import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ChatModel, ModelRequest } from '../../src/core/model.ts'
import { cuts, hangs, type ModelServer, refuses, says, sends } from '../support/model-server.ts'

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

/** What every model behind a provider must keep. `open` gives one that talks to the server, and gives up after 300 ms without a byte. */
export function modelContract(vendor: string, server: () => ModelServer, open: () => ChatModel): void {
  describe(`model contract: ${vendor}`, () => {
    const never = new AbortController().signal

    test('replies with the text, and the tokens that it took', async () => {
      server().behaviour = says('**Hi**')
      const { text, usage } = await open().generate(request(), never)
      assert.equal(text, '**Hi**')
      assert.deepEqual(usage, { tokensIn: 21, tokensOut: 7, tokensCached: 5 })
    })

    for (const status of [400, 401, 429, 500, 503]) {
      test(`an answer of ${status} is model_failed, without a word of the provider's`, async () => {
        server().behaviour = refuses(status)
        await assert.rejects(open().generate(request(), never), (error: Error & { code: string }) => {
          assert.equal(error.code, 'model_failed')
          assert.doesNotMatch(error.message, /the-words-of-the-provider/)
          return true
        })
      })
    }

    test('a refusal is one even where a reply stands in it', async () => {
      const reply = JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'Not really.' } }] })
      server().behaviour = (_call, response) => response.writeHead(500, { 'content-type': 'application/json' }).end(reply)
      await assert.rejects(open().generate(request(), never), { code: 'model_failed' })
    })

    test('silence is model_timeout', async () => {
      server().behaviour = hangs
      await assert.rejects(open().generate(request(), never), { code: 'model_timeout' })
    })

    for (const [name, behaviour] of Object.entries({
      'a connection that breaks': cuts,
      'something that is no JSON': sends('<html>'),
      'JSON of another shape': sends('[1]'),
      'no text': says(''),
      'blank text': says(' \n'),
    })) {
      test(`${name} is model_failed, never a short reply`, async () => {
        server().behaviour = behaviour
        await assert.rejects(open().generate(request(), never), { code: 'model_failed' })
      })
    }

    test('stops when it is told to', async () => {
      server().reset()
      server().behaviour = hangs
      const abort = new AbortController()
      const reply = open().generate(request(), abort.signal)
      await server().received(1)
      abort.abort()
      // And not because it gave up waiting.
      await assert.rejects(reply, { code: 'model_failed' })
    })
  })
}
