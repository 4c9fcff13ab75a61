// The model server of a benchmark, in its own process: whole and streamed chat completions, and embeddings, in OpenAI's protocol.
//   node bench/model.ts
// Models: `long` returns two kilobytes of Markdown, `trickle-N` one word a second for N seconds, any other one sentence immediately.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const DIMENSIONS = 384
const WORDS_ARE = / +/
const SENTENCE =
  'The lamps of the harbour are lit at dusk, and the keeper writes down in his book how much oil each of them has used up until the next morning.'
/** A typical long reply: paragraphs, a list, code, a table. */
const LONG = `## How the lamps are kept

${SENTENCE} The keeper walks **the whole pier**, *twice*, and turns down what burns too high; see [the book](https://example.org/book).

${SENTENCE} Whoever asks is told that \`oil\` is counted in litres and that nothing is counted on Sundays.

1. The first lamp stands at the pier, where the ferry comes in, and it burns longest of all.
2. The second stands at the north gate, and is lit when the fog is thick or the moon is new.
3. The third is seldom lit, because the wind blows it out before anybody has seen it.

\`\`\`sh
lamps list --harbour north --since yesterday
\`\`\`

| lamp | oil | lit |
|---|---:|---|
| pier | 2.5 l | every night |
| gate | 1.8 l | in fog |
| yard | 0.2 l | seldom |

${SENTENCE} ${SENTENCE} **Nobody has ever paid for it.**

- ${SENTENCE}
- ${SENTENCE}
- Ask the keeper.

${SENTENCE}
`

const server = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (part: string) => {
    text += part
  })
  request.on('end', () => answer(request.url ?? '', JSON.parse(text), response))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`))

interface Asked {
  model: string
  stream?: boolean
  input?: string | string[]
}

function answer(url: string, { model, stream, input }: Asked, response: ServerResponse): void {
  if (url.endsWith('/embeddings')) send(response, { object: 'list', data: [input ?? []].flat().map(embedding) })
  else if (model.startsWith('trickle-')) trickle(response, Number(model.slice('trickle-'.length)))
  else if (stream === true) startStream(response).end(piecesOf(textOf(model)))
  else send(response, completion(model))
}

const textOf = (model: string): string => (model === 'long' ? LONG : SENTENCE)

function completion(model: string): object {
  const message = { role: 'assistant', content: textOf(model) }
  const usage = { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 }
  return { id: 'c', object: 'chat.completion', model, choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
}

function send(response: ServerResponse, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}

const startStream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })
const piece = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const END = `${piece({}, 'stop')}data: [DONE]\n\n`
const piecesOf = (content: string) => (content.match(/.{1,24}/gs) ?? []).map((part) => piece({ content: part })).join('') + END

function trickle(response: ServerResponse, seconds: number): void {
  startStream(response).write(piece({ content: 'word ' }))
  let left = seconds
  const timer = setInterval(() => {
    if (--left > 0) return void response.write(piece({ content: 'word ' }))
    clearInterval(timer)
    response.end(END)
  }, 1_000)
  response.on('close', () => clearInterval(timer))
}

/** Returns a base64 embedding. Each word has a direction, so texts that share words are similar. */
function embedding(text: string, index: number): object {
  const vector = new Float32Array(DIMENSIONS)
  for (const word of text.toLowerCase().split(WORDS_ARE)) {
    let hash = 2_166_136_261
    for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 16_777_619) >>> 0
    for (let k = 0; k < 4; k++) {
      hash = Math.imul(hash ^ (hash >>> 15), 2_246_822_519) >>> 0
      vector[hash % DIMENSIONS]! += hash & 1_024 ? 1 : -1
    }
  }
  const length = Math.hypot(...vector) || 1
  for (let i = 0; i < DIMENSIONS; i++) vector[i]! /= length
  return { object: 'embedding', index, embedding: Buffer.from(vector.buffer).toString('base64') }
}
