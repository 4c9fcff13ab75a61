// The chat model of the AI SDK, in each major version that is in use.
import assert from 'node:assert/strict'
import { before, beforeEach, describe, test } from 'node:test'
import * as openai4 from '@ai-sdk/openai'
import * as ai7 from 'ai'
import * as openai2 from 'ai-sdk-openai-v2'
import * as openai3 from 'ai-sdk-openai-v3'
import * as ai5 from 'ai-v5'
import * as ai6 from 'ai-v6'
import { isOk } from '../support/assert.ts'
import { streams } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess } from '../support/service.ts'
import { startForClients } from '../support/surfaces.ts'

const { client, model, service, site } = await startForClients()

/** What the test uses of each version: the types of the versions do not fit each other. */
interface Source {
  url: string
  title: string
}
interface Ai {
  generateText(asked: object): PromiseLike<{ text: string; sources: Source[] }>
  streamText(asked: object): { fullStream: AsyncIterable<{ type: string; text?: string } & Source> }
}
interface Provider {
  createOpenAI(options: { baseURL: string; apiKey: string }): { chat(model: string): unknown }
}
const versions: [version: number, ai: Ai, provider: Provider][] = [
  [5, ai5 as unknown as Ai, openai2],
  [6, ai6 as unknown as Ai, openai3],
  [7, ai7 as unknown as Ai, openai4],
]
const cases: [of: string, reply: string[], cites: Source[]][] = [
  [
    'a document with an address',
    ['The kettle weighs', ' 900 grams [1][2].'],
    [{ url: site.url('/kettle'), title: 'The kettle' }],
  ],
  ['a document without an address', ['The warranty lasts', ' three years [1][2].'], []],
]
let agent: string

before(async () => {
  agent = await service.newAgent()
  site.pages.set('/kettle', '<main><h1>The kettle</h1><p>The kettle weighs 900 grams and holds two litres.</p></main>')
  isOk(await client.post(`/agents/${agent}/documents`, { url: site.url('/kettle') }), 202)
  isOk(await client.post(`/agents/${agent}/documents`, { title: 'Warranty', text: 'The warranty lasts three years.' }), 202)
  await until('both documents are ready', async () => {
    return (await client.get(`/agents/${agent}/documents?status=ready`)).body.pagination.total === 2
  })
})
beforeEach(() => model.reset())

describe('the chat model of the AI SDK', { skip: needsProcess }, () => {
  for (const [version, { generateText, streamText }, { createOpenAI }] of versions) {
    for (const [of, reply, cites] of cases) {
      test(`version ${version} returns and streams a reply that cites ${of}`, async () => {
        model.behaviour = streams(reply)
        const openai = createOpenAI({ baseURL: new URL('/openai/v1', client.address.baseUrl).href, apiKey: client.key })
        const prompt = 'How heavy is the kettle, and how long does the warranty last?'
        const asked = { model: openai.chat(agent), prompt, maxRetries: 0 }
        const text = `${reply.join('').slice(0, -'[1][2].'.length)}[1].`
        const only = ({ url, title }: Source) => ({ url, title })

        const whole = await generateText(asked)
        assert.deepEqual([whole.text, whole.sources.map(only)], [text, cites])

        const parts = await Array.fromAsync(streamText(asked).fullStream)
        assert.deepEqual(
          parts.filter(({ type }) => type === 'error'),
          [],
        )
        assert.equal(parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join(''), text)
        assert.deepEqual(parts.filter(({ type }) => type === 'source').map(only), cites)
      })
    }
  }
})
