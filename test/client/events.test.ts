// Server-sent events as the client reads them: the rules of the HTML standard, whatever pieces the bytes come in.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { EventParser, readEvents, type ServerEvent } from '../../client/src/events.ts'

const encoder = new TextEncoder()
const inPieces = (bytes: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))

async function read(pieces: Uint8Array[]): Promise<ServerEvent[]> {
  const events: ServerEvent[] = []
  for await (const event of readEvents(ReadableStream.from(pieces) as ReadableStream<Uint8Array>, { silenceMs: 5_000 }))
    events.push(event)
  return events
}

const cases: [what: string, text: string, events: ServerEvent[]][] = [
  ['an event', 'event: a\nid: 1\ndata: x\n\n', [{ type: 'a', id: '1', data: 'x' }]],
  ['lines that end with CRLF', 'event: a\r\nid: 1\r\ndata: x\r\n\r\n', [{ type: 'a', id: '1', data: 'x' }]],
  [
    'lines that end with CR',
    'event: a\rdata: x\r\rdata: y\r\r',
    [
      { type: 'a', id: '', data: 'x' },
      { type: 'message', id: '', data: 'y' },
    ],
  ],
  ['data of many lines', 'data: x\ndata\ndata:  y\n\n', [{ type: 'message', id: '', data: 'x\n\n y' }]],
  [
    'comments and fields that it does not know',
    ': hello\nretry: 1000\nfoo: bar\ndata:x\n:\n\n',
    [{ type: 'message', id: '', data: 'x' }],
  ],
  ['letters of several bytes', 'data: {"text":"ü – 😀 家"}\n\n', [{ type: 'message', id: '', data: '{"text":"ü – 😀 家"}' }]],
  ['a byte-order mark', '\ufeffdata: x\n\n', [{ type: 'message', id: '', data: 'x' }]],
  [
    'an id that stays until the next',
    'id: 1\ndata: x\n\ndata: y\n\nid\ndata: z\n\n',
    [
      { type: 'message', id: '1', data: 'x' },
      { type: 'message', id: '1', data: 'y' },
      { type: 'message', id: '', data: 'z' },
    ],
  ],
  ['an event without data, whose name does not stay', 'event: a\n\ndata: x\n\n', [{ type: 'message', id: '', data: 'x' }]],
  ['an event that is cut off', 'data: x\n\ndata: y\n', [{ type: 'message', id: '', data: 'x' }]],
]

describe('the client reads', () => {
  for (const [what, text, events] of cases) {
    test(what, async () => {
      const bytes = encoder.encode(text)
      for (let size = 1; size <= bytes.length; size++)
        assert.deepEqual(await read(inPieces(bytes, size)), events, `${size} bytes at a time`)
    })
  }

  test('what others read, of any text in any pieces', () => {
    const line = fc.constantFrom('data: x', 'data:y', 'data', 'event: a', 'id: 7', 'id', ': c', 'foo', '', '', 'data: ü😀')
    const end = fc.constantFrom('\n', '\r\n')
    const streams = fc.array(fc.tuple(line, end), { maxLength: 30 })
    fc.assert(
      fc.property(streams, fc.array(fc.nat(12), { maxLength: 40 }), (lines, sizes) => {
        const text = lines.flat().join('')
        const expected: ServerEvent[] = []
        const other = createParser({
          onEvent: (e) => expected.push({ type: e.event ?? 'message', id: e.id ?? '', data: e.data }),
        })
        other.feed(text)
        const parser = new EventParser()
        const events: ServerEvent[] = []
        let at = 0
        for (const size of [...sizes, text.length]) {
          events.push(...parser.feed(text.slice(at, at + size)))
          at += size
        }
        assert.deepEqual(
          events.map(({ type, data }) => ({ type, data })),
          expected.map(({ type, data }) => ({ type, data })),
        )
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  test('a long event that comes in many pieces', async () => {
    const text = `data: ${'x'.repeat(4_000_000)}\n\n`
    const [event] = await read(inPieces(encoder.encode(text), 1_000))
    assert.equal(event?.data.length, 4_000_000)
  })
})

describe('a stream', () => {
  test('that falls silent is given up', async () => {
    let isClosed = false
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode('data: x\n\n')),
      cancel: () => {
        isClosed = true
      },
    })
    const events = []
    for await (const { data } of readEvents(silent, { silenceMs: 50 })) events.push(data)
    assert.deepEqual(events, ['x'])
    assert.ok(isClosed)
  })

  test('whose reader leaves is closed', async () => {
    let isClosed = false
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(encoder.encode('data: x\n\n')),
      cancel: () => {
        isClosed = true
      },
    })
    for await (const _ of readEvents(endless, { silenceMs: 5_000 })) break
    assert.ok(isClosed)
  })
})
