// What comes in by other doors: Markdown that models write, streams that providers send, files that callers upload
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { Parser } from 'htmlparser2'
import { ReparteeError } from '../../src/core/errors.ts'
import type { ChatModel } from '../../src/core/ports/model.ts'
import { chatCompletionsModel } from '../../src/models/chat-completions.ts'
import { ollamaModel } from '../../src/models/ollama.ts'
import type { Provider } from '../../src/models/provider.ts'
import { vendorModel } from '../../src/models/vendor-model.ts'
import { renderHtml } from '../../src/render/render.ts'
import { request } from '../contract/model.ts'
import { contractChecks, type OpenApi } from '../support/contract-checks.ts'
import { character, holds, Tally, text } from '../support/fuzz.ts'
import { type Behaviour, type ModelCall, ModelServer } from '../support/model-server.ts'
import { exchange } from '../support/raw-http.ts'
import { needsProcess, startService } from '../support/service.ts'

// How many requests are refused because others take all the time is another question.
const service = needsProcess ? undefined : await startService()
/** Ends a hang and measures nothing. */
const HANGS_AFTER_MS = 60_000
const tally = new Tally()
after(async () => {
  tally.print()
  await service?.stop()
})

describe('Markdown of any kind becomes HTML that cannot act', () => {
  const MAX_CHARS = 20_000
  const TAGS: Record<string, string[]> = {
    ...Object.fromEntries(
      ['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'strong', 'em', 'del', 'ul', 'li'].map((t) => [
        t,
        [],
      ]),
    ),
    ...{ table: [], thead: [], tbody: [], tr: [], th: ['style'], td: ['style'], ol: ['start'], code: ['class'] },
    ...{ a: ['href', 'title', 'rel'], img: ['src', 'alt', 'title'], input: ['type', 'checked', 'disabled'] },
  }
  const PIECES = [
    ...[
      '*',
      '**',
      '_',
      '__',
      '~',
      '~~',
      '`',
      '``',
      '```',
      '~~~',
      '#',
      '## ',
      '> ',
      '- ',
      '+ ',
      '1. ',
      '9. ',
      '    ',
      '\t',
      '\n',
      '\n\n',
      '  \n',
    ],
    ...[
      '|',
      '|-|',
      '| a | b |\n|:-|-:|\n',
      '---',
      '===',
      '[',
      ']',
      '(',
      ')',
      '![',
      '](',
      '[x]',
      '[ ] ',
      '- [x] ',
      '[x]: ',
      '[^1]',
      '<',
      '>',
      '\\',
      '"',
      "'",
    ],
    ...[
      '&',
      '&amp;',
      '&#58;',
      '&#x6a;',
      '&colon;',
      '&Tab;',
      '&NewLine;',
      '&#0;',
      '&lt;script&gt;',
      '&quot;',
      '\u0000',
      '\u202e',
      '\u2028',
      '\u00ad',
      '\ufeff',
    ],
    ...[
      '<script>',
      '</script>',
      '<img src=x onerror=alert(1)>',
      '<a href="javascript:alert(1)">',
      '<style>',
      '<svg onload=x>',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
    ],
    ...[
      '<?x',
      '?>',
      '<math><mtext>',
      '<iframe src=//e.example>',
      '<base href=//e.example>',
      '<form>',
      '<noscript>',
      '<template>',
      '<plaintext>',
      '<xmp>',
      '<textarea>',
    ],
    ...[
      'onclick=alert(1)',
      'style="x:expression(1)"',
      '" onmouseover="alert(1)',
      'javascript:alert(1)',
      'JaVaScRiPt:',
      'java\tscript:x',
      'vbscript:x',
      'data:text/html,x',
    ],
    ...[
      'http://a.example/',
      'https://b.example/?q=1&r=2',
      '//e.example/x',
      '/\\e.example',
      'mailto:a@b.example',
      'www.a.example',
      'ftp://x',
      'file:///etc/passwd',
      'blob:x',
    ],
    ...[
      'https://img.example/x.png',
      'http://img.example@e.example/',
      'https://img.example:443/x',
      'https://IMG.example./x',
      'http://[::1]/',
      'http://x y',
      'tel:1',
      'a@b.example',
    ],
    ...['word', 'x', ' ', '1', '\u00e9', '😀', '\ud83d', '%0a', '%00', ':', '.', '!', ';', '/', '?', '{', '}', '$', '='],
  ]
  const link = fc
    .tuple(
      fc.constantFrom('', '!'),
      fc.constantFrom('x', '', '*y*'),
      fc.constantFrom(...PIECES),
      fc.constantFrom('', ' "t"', ' "\\" onclick=x"'),
    )
    .map(([mark, about, address, title]) => `${mark}[${about}](${address}${title})`)
  const piece = fc.oneof({ arbitrary: fc.constantFrom(...PIECES), weight: 8 }, { arbitrary: link, weight: 2 }, character)
  const short = fc.array(piece, { maxLength: 40 }).map((all) => all.join(''))
  /** A few pieces again and again: what takes quadratic time takes it here. */
  const long = fc
    .tuple(
      fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(...PIECES),
      fc.constantFrom(...PIECES),
    )
    .map(([unit, head, tail]) => {
      const one = unit.join('')
      return (head + one.repeat(Math.ceil(MAX_CHARS / Math.max(1, one.length)))).slice(0, MAX_CHARS - tail.length) + tail
    })
  const hosts = fc.subarray(['img.example', 'localhost:8080', 'IMG.EXAMPLE', '[::1]', 'e.example.evil'], { maxLength: 3 })

  const isHarmless = (html: string, imageHosts: string[]) => {
    const parser = new Parser({
      onopentag(name, attributes) {
        const allowed = TAGS[name]
        assert.ok(allowed, `<${name}>`)
        for (const attribute of Object.keys(attributes)) assert.ok(allowed.includes(attribute), `<${name} ${attribute}>`)
        const { href, src, rel, style, type } = attributes
        if (name === 'a') assert.equal(rel, 'noopener nofollow')
        if (href !== undefined) assert.match(URL.parse(href, 'https://base.example/')?.protocol ?? 'http:', /^(https?|mailto):$/)
        if (style !== undefined) assert.match(style, /^text-align:(left|right|center);?$/)
        if (name === 'input') assert.ok(type === 'checkbox' && 'disabled' in attributes)
        if (name !== 'img') return
        const { host, protocol } = new URL(src!)
        assert.match(protocol, /^https?:$/)
        assert.ok(
          imageHosts.some((listed) => listed.toLowerCase() === host),
          `an image of ${host}`,
        )
      },
      onprocessinginstruction: (name) => assert.fail(`<${name}>`),
      oncomment: (comment) => assert.fail(`<!--${comment}-->`),
    })
    parser.end(html)
  }

  const render = async (source: string, imageHosts: string[], kind: string) => {
    tally.add(`Markdown: ${kind}`)
    isHarmless(await renderHtml(source, imageHosts), imageHosts)
  }

  test('short texts, whatever images are let in', () =>
    holds(1_500, fc.tuple(short, hosts), ([source, imageHosts]) => render(source, imageHosts, 'short')))

  test('20,000 characters', () => holds(50, fc.tuple(long, hosts), ([source, imageHosts]) => render(source, imageHosts, 'long')))
})

/** Sends bytes in writes that end at these places. */
const cutAt =
  (bytes: (call: ModelCall) => Buffer, mediaType: (call: ModelCall) => string, cuts: number[]): Behaviour =>
  async (call, response) => {
    const all = bytes(call)
    const places = [...new Set(cuts.map((cut) => cut % (all.length + 1)))].sort((a, b) => a - b)
    response.writeHead(200, { 'content-type': mediaType(call) })
    let from = 0
    for (const to of [...places, all.length]) {
      response.write(all.subarray(from, to))
      from = to
      await nextTurn()
    }
    response.end()
  }
const mediaTypeOf = (call: ModelCall) => (call.streams ? call.format.mediaType : 'application/json')

describe('streams of models', () => {
  const server = new ModelServer()
  let baseUrl: string
  before(async () => {
    baseUrl = await server.listen()
  })
  after(() => server.close())
  const provider = <P extends Provider['protocol']>(protocol: P): Provider & { protocol: P } => ({
    ...{ name: 'some', protocol, baseUrl, apiKey: 'sk-test', headers: {} },
  })
  const models: Record<string, () => ChatModel> = {
    chat: () => chatCompletionsModel('m', provider('chat')),
    responses: () => vendorModel('m', provider('responses')),
    anthropic: () => vendorModel('m', provider('anthropic')),
    google: () => vendorModel('m', provider('google')),
    ollama: () => ollamaModel('m', provider('ollama')),
  }
  const ask = async (open: () => ChatModel, behaviour: Behaviour) => {
    server.reset()
    server.behaviour = behaviour
    let said = ''
    const signal = AbortSignal.timeout(HANGS_AFTER_MS)
    const reply = open().generate(request(), { signal, onText: (piece) => (said += piece) })
    return { ...(await reply.finally(() => assert.ok(!signal.aborted, 'the call hangs'))), said }
  }
  const pieces = fc.array(text(30), { minLength: 1, maxLength: 6 })
  const cuts = fc.array(fc.nat(20_000), { maxLength: 40 })
  const bytesOf = (call: ModelCall, said: string[]) => {
    const { format } = call
    const whole = { model: 'm', text: said.join(''), reason: 'stop' as const }
    return Buffer.from(format.begin(whole) + said.map((piece) => format.piece(whole, piece)).join('') + format.end(whole))
  }

  for (const [name, open] of Object.entries(models)) {
    test(`${name}: wherever the bytes of a good stream are cut, the text is the same`, () =>
      holds(30, fc.tuple(pieces, cuts), async ([said, where]) => {
        tally.add(`good streams: ${name}`)
        const reply = await ask(
          open,
          cutAt((call) => bytesOf(call, said), mediaTypeOf, where),
        )
        assert.equal(reply.text, said.join(''))
        assert.equal(reply.said, said.join(''))
      }))

    test(`${name}: a spoilt stream is a reply or a failure of the model, and nothing hangs`, () =>
      holds(40, fc.tuple(pieces, cuts, spoiling), async ([said, where, spoil]) => {
        tally.add(`spoilt streams: ${name}`)
        await ask(
          open,
          cutAt((call) => spoil(bytesOf(call, said)), mediaTypeOf, where),
        ).catch((error: unknown) => {
          assert.ok(error instanceof ReparteeError, String((error as Error).stack))
          assert.equal(error.code, 'model_failed')
        })
      }))
  }

  // Between the events of a stream of chat completions there may be much that says nothing (WHATWG HTML 9.2.5).
  const BETWEEN = [
    ': a comment\n',
    ':\n',
    '\n',
    '\n\n',
    'retry: 10\n',
    'id: 7\n',
    'event: x\n\n',
    'unknown: 1\n',
    'data\n\n'.slice(0, 0),
  ]
  test('chat: with comments, other fields and other ends of lines the text is the same', () =>
    holds(
      40,
      fc.tuple(pieces, cuts, fc.array(fc.constantFrom(...BETWEEN)), fc.constantFrom('\n', '\r\n', '\r'), fc.boolean()),
      (made) => {
        const [said, where, between, lineEnd, hasMark] = made
        tally.add('good streams: in other forms')
        const bytes = (call: ModelCall) => {
          const events = bytesOf(call, said)
            .toString('utf8')
            .split('\n\n')
            .filter((event) => event !== '')
          const filled = events.map((event, i) => `${between[i % Math.max(1, between.length)] ?? ''}${event}\n\n`).join('')
          return Buffer.from((hasMark ? '\ufeff' : '') + filled.replaceAll('\n', lineEnd))
        }
        return ask(models['chat']!, cutAt(bytes, mediaTypeOf, where)).then(({ text: reply }) =>
          assert.equal(reply, said.join('')),
        )
      },
    ))
})

const GARBAGE = [
  ...[
    'data: {}\n\n',
    'data: null\n\n',
    'data: [\n\n',
    'data: "x"\n\n',
    'data: 1\n\n',
    'data: [DONE]\n\n',
    'event: error\ndata: {}\n\n',
    '{}\n',
    'null\n',
    '[]\n',
    '\n\n',
    '\0',
  ],
  ...[
    'data: {"choices":null}\n\n',
    'data: {"choices":[null]}\n\n',
    'data: {"choices":[{}]}\n\n',
    'data: {"choices":[{"delta":null}]}\n\n',
    'data: {"choices":[{"delta":{"content":{}}}]}\n\n',
  ],
  ...[
    'data: {"choices":[{"delta":{"content":[null,1,{"text":2}]}}]}\n\n',
    'data: {"choices":{}}\n\n',
    'data: {"usage":1,"choices":[]}\n\n',
    'data: {"usage":{"prompt_tokens":"x"}}\n\n',
  ],
  ...[
    '{"message":null}\n',
    '{"message":{"content":1}}\n',
    '{"done":true}\n',
    '{"error":"x"}\n',
    '{"done":"x","message":[]}\n',
    'data: {"type":"x"}\n\n',
    'data: {"type":null}\n\n',
  ],
  ...[
    'data: {"type":"content_block_delta"}\n\n',
    'data: {"candidates":[null]}\n\n',
    'data: {"candidates":null}\n\n',
    'data: {"type":"response.completed"}\n\n',
    `data: ${'x'.repeat(70_000)}`,
  ],
  ...[
    'data: {"choices":[{"delta":{"content":"\\ud800"}}]}\n\n',
    'data: {"choices":[{"delta":{"content":"\\u0000"}}]}\n\n',
    'data: {"error":null}\n\n',
    '\r',
    ':',
    'data:',
  ],
]
/** What may become of the bytes of a stream on their way. */
const spoiling: fc.Arbitrary<(good: Buffer) => Buffer> = fc
  .tuple(
    fc.constantFrom('cut', 'put in', 'taken out', 'changed', 'nothing of it', 'twice', 'bytes'),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constantFrom(...GARBAGE),
    fc.uint8Array({ maxLength: 200 }),
  )
  .map(([how, where, garbage, bytes]) => {
    const spoil = (good: Buffer) => {
      const at = Math.floor(good.length * where)
      if (how === 'cut') return good.subarray(0, at)
      if (how === 'put in') return Buffer.concat([good.subarray(0, at), Buffer.from(garbage), good.subarray(at)])
      if (how === 'taken out') return Buffer.concat([good.subarray(0, at), good.subarray(at + bytes.length)])
      if (how === 'changed') return Buffer.concat([good.subarray(0, at), bytes, good.subarray(at + bytes.length)])
      if (how === 'twice') return Buffer.concat([good, good])
      return how === 'bytes' ? Buffer.from(bytes) : Buffer.from(garbage.repeat(3))
    }
    return Object.assign(spoil, {
      [fc.toStringMethod]: () => JSON.stringify({ how, where, garbage, bytes: Buffer.from(bytes).toString('hex') }),
    })
  })

describe('a service between a model and callers that both know no rules', { skip: needsProcess }, async () => {
  if (service === undefined) return
  const { client, model } = service
  const document = (await client.get('^/openapi.json', { key: null })).body as OpenApi
  const check = contractChecks(document)
  const operation = (path: string, method: string) => document.paths[path]![method]!
  const agentId = await service.newAgent()
  const session = await service.newSession(agentId)

  test('a send whose model sends garbage is answered, and the next one is, too', () =>
    holds(60, fc.tuple(spoiling, fc.array(fc.nat(2_000), { maxLength: 5 }), fc.boolean()), async ([spoil, cuts, asEvents]) => {
      tally.add('sends with a spoilt model')
      const good = (call: ModelCall) => {
        const said = { model: 'm', text: 'A reply.', reason: 'stop' as const }
        if (!call.streams) return Buffer.from(JSON.stringify(call.format.whole(said)))
        return Buffer.from(call.format.begin(said) + call.format.piece(said, said.text) + call.format.end(said))
      }
      model.reset()
      model.behaviour = cutAt((call) => spoil(good(call)), mediaTypeOf, cuts)
      const answer = await client.post(
        `${session}/messages`,
        { message: 'Hello', format: 'html' },
        {
          headers: asEvents ? { accept: 'text/event-stream' } : {},
          signal: AbortSignal.timeout(HANGS_AFTER_MS),
        },
      )
      tally.add(`status: ${answer.status}`)
      const send = operation('/agents/{agentId}/sessions/{sessionId}/messages', 'post')
      if (answer.status === 502) assert.equal(answer.body.error.code, 'model_failed', answer.text)
      else check(send, answer)
      model.reset()
      const next = await client.post(`${session}/messages`, { message: 'Hello' }, { signal: AbortSignal.timeout(HANGS_AFTER_MS) })
      assert.equal(next.status, 200, next.text)
    }))

  const upload = operation('/agents/{agentId}/documents', 'post')
  test('an upload of any form is taken or refused', () =>
    holds(200, uploads, async (made) => {
      tally.add('uploads', `upload: ${made.spoilt}`)
      const { head, body, leaves } = toBytes(made)
      const { host, pathname } = new URL(client.address.baseUrl)
      const first = [`POST ${pathname}/agents/${agentId}/documents HTTP/1.1`, `Host: ${host}`, `X-API-Key: ${client.key}`]
      const bytes = Buffer.concat([Buffer.from(`${[...first, ...head].join('\r\n')}\r\n\r\n`, 'latin1'), body])
      const answers = await exchange(client, bytes, { leaves })
      assert.ok(answers.length > 0 || leaves, 'an answer')
      for (const answer of answers) {
        tally.add(`upload: ${answer.status}`)
        check(upload, answer)
      }
    }))

  test('the service is as well as before', async () => {
    assert.equal((await client.get(`/agents/${agentId}`)).status, 200)
    assert.equal((await client.get('^/readyz', { key: null })).status, 200)
  })
})

interface Part {
  disposition: string
  more: string[]
  content: string
}
interface MadeUpload {
  boundary: string
  type: string
  parts: Part[]
  spoilt:
    | 'nothing'
    | 'cut off'
    | 'no end'
    | 'line feeds alone'
    | 'more behind'
    | 'more before'
    | 'longer than it is'
    | 'shorter than it is'
    | 'chunked'
    | 'a byte changed'
  at: number
}
const disposition = fc.oneof(
  {
    arbitrary: fc.constantFrom('form-data; name="file"; filename="a.txt"', 'form-data; name="file"; filename="b.md"'),
    weight: 5,
  },
  { arbitrary: fc.constantFrom('form-data; name="title"', 'form-data; name="metadata"'), weight: 3 },
  fc.constantFrom(
    ...[
      '',
      'form-data',
      'form-data; name=',
      'form-data; name=file',
      'form-data; name=""',
      'form-data; filename="a.txt"',
      'attachment; name="file"; filename="a.txt"',
    ],
    ...[
      'form-data; name="file',
      'form-data; name="file"; filename="',
      'form-data; name="file"; filename=""',
      'form-data; name="file"; filename="../../../etc/passwd"',
    ],
    ...[
      'form-data; name="file"; filename*=UTF-8\'\'%E2%82%AC.txt',
      'form-data; name="file"; filename*=UTF-8\'\'%ff%zz',
      'form-data; name="file"; filename*=x\'\'y',
      'form-data; name="file"; filename="\\"\\\\.txt"',
    ],
    ...[
      'form-data; name="__proto__"',
      'form-data; name="constructor"',
      'form-data; name="title[]"',
      'FORM-DATA; NAME="file"; FILENAME="A.TXT"',
      'form-data;name=file;filename=a.txt',
      'form-data; name="file"; name="title"',
    ],
    ...[
      'form-data; name="file"; filename="a\0b.txt"',
      `form-data; name="${'x'.repeat(100_000)}"`,
      `form-data; name="file"; filename="${'😀'.repeat(300)}.txt"`,
      'form-data; name="nope"',
      ';;;;',
      '="";',
    ],
  ),
)
const part: fc.Arbitrary<Part> = fc.record({
  disposition,
  more: fc.array(
    fc.constantFrom(
      ...[
        'Content-Type: text/plain',
        'Content-Type: text/markdown; charset=utf-16',
        'Content-Type: application/pdf',
        'Content-Type: multipart/mixed; boundary=inner',
        'Content-Type: x',
        'Content-Type:',
      ],
      ...[
        'Content-Transfer-Encoding: base64',
        'Content-Transfer-Encoding: x',
        'Content-Type: text/plain; charset=nope',
        'no colon',
        ': x',
        'X-Long: '.padEnd(100_000, 'x'),
        'Content-Disposition: form-data; name="file"',
      ],
    ),
    { maxLength: 2 },
  ),
  content: fc.oneof(
    text(40),
    fc.constantFrom(
      '',
      '\r\n',
      '--',
      '\0',
      '{"a":1}',
      '{"__proto__":1}',
      '{"a":"\\u0000"}',
      '[]',
      '{',
      '--inner\r\n\r\nx\r\n--inner--',
      '%PDF-1.7',
      'PK\x03\x04',
      'x'.repeat(80_000),
    ),
  ),
})
const uploads: fc.Arbitrary<MadeUpload> = fc.record({
  boundary: fc.oneof(
    { arbitrary: fc.constant('limit'), weight: 3 },
    fc.stringMatching(/^[\w'()+,.:=?-]{1,70}$/),
    fc.constantFrom('', ' ', '-', '--', 'x'.repeat(200), '"', '\\', 'a b', 'é'),
  ),
  type: fc.oneof(
    {
      arbitrary: fc.constantFrom('multipart/form-data; boundary=BOUNDARY', 'multipart/form-data; boundary="BOUNDARY"'),
      weight: 6,
    },
    fc.constantFrom(
      ...[
        'multipart/form-data;boundary=BOUNDARY;charset=x',
        'Multipart/Form-Data; Boundary=BOUNDARY',
        'multipart/form-data',
        'multipart/form-data;',
        'multipart/form-data; boundary',
        'multipart/form-data; boundary=',
      ],
      ...[
        'multipart/mixed; boundary=BOUNDARY',
        'multipart/form-data; boundary=other',
        'multipart/form-data; boundary=a; boundary=BOUNDARY',
        "multipart/form-data; boundary*=utf-8''BOUNDARY",
        'multipart/form-data; x="',
      ],
    ),
  ),
  parts: fc.oneof(
    { arbitrary: fc.array(part, { maxLength: 4 }), weight: 8 },
    fc.tuple(part, fc.integer({ min: 5, max: 40 })).map(([one, n]) => Array(n).fill(one)),
  ),
  spoilt: fc.oneof(
    fc.constant('nothing' as const),
    fc.constantFrom<MadeUpload['spoilt']>(
      'cut off',
      'no end',
      'line feeds alone',
      'more behind',
      'more before',
      'longer than it is',
      'shorter than it is',
      'chunked',
      'a byte changed',
    ),
  ),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
})

function toBytes({ boundary, type, parts, spoilt, at }: MadeUpload): { head: string[]; body: Buffer; leaves: boolean } {
  const written = parts.map(({ disposition, more, content }) =>
    [`--${boundary}`, `Content-Disposition: ${disposition}`, ...more, '', content].join('\r\n'),
  )
  const end = spoilt === 'no end' ? '' : `\r\n--${boundary}--\r\n`
  let whole = `${spoilt === 'more before' ? 'Before\r\n' : ''}${written.join('\r\n')}${end}${spoilt === 'more behind' ? `Behind\r\n--${boundary}\r\n\r\nx` : ''}`
  if (spoilt === 'line feeds alone') whole = whole.replaceAll('\r\n', '\n')
  let body = Buffer.from(whole)
  if (spoilt === 'cut off') body = body.subarray(0, Math.floor(body.length * at))
  if (spoilt === 'a byte changed' && body.length > 0) body[Math.floor((body.length - 1) * at)] = Math.floor(at * 7919) % 256
  const leaves = spoilt === 'longer than it is'
  const length = Math.max(0, body.length + (leaves ? 100 : spoilt === 'shorter than it is' ? -10 : 0))
  const contentType = `Content-Type: ${Buffer.from(type.replace('BOUNDARY', () => boundary)).toString('latin1')}`
  if (spoilt !== 'chunked') return { head: [contentType, `Content-Length: ${length}`], body, leaves }
  const middle = Math.floor(body.length * at)
  const chunks = [body.subarray(0, middle), body.subarray(middle)].filter((chunk) => chunk.length > 0)
  const framed = chunks.flatMap((chunk) => [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')])
  return { head: [contentType, 'Transfer-Encoding: chunked'], body: Buffer.concat([...framed, Buffer.from('0\r\n\r\n')]), leaves }
}
