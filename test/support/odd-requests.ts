import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Client } from './client.ts'
import { CLOSES_WITHIN_MS, exchange } from './raw-http.ts'

/** Invalid or unusual HTTP framing of a body. */
export interface Frame {
  lines: string[]
  body: 'length' | 'chunked' | 'both' | 'none'
  length: number
}

/** Ways to corrupt the text of a body. `at` is the relative position or amount. */
export const SPOIL: Record<string, (text: string, at: number) => string | Buffer> = {
  'cut off': (t, at) => t.slice(0, Math.floor(t.length * at)),
  'a byte changed': (t, at) => {
    const bytes = Buffer.from(t)
    if (bytes.length > 0) bytes[Math.floor((bytes.length - 1) * at)] = Math.floor(at * 7919) % 256
    return bytes
  },
  'UTF-16': (t) => Buffer.from(t, 'utf16le'),
  'Latin-1': (t) => Buffer.from(`${t.slice(0, -1)},"name":"é"}`, 'latin1'),
  'a byte-order mark': (t) => `\ufeff${t}`,
  'white space only': () => ' \n\t ',
  'white space around': (t) => ` \r\n${t}\n\n`,
  'no bytes': () => '',
  'a list': (t) => `[${t}]`,
  'a text': (t) => JSON.stringify(t),
  'a number': () => '-0',
  null: () => 'null',
  twice: (t) => t + t,
  'a field twice': (t) => `${t.slice(0, -1)}${t.length > 2 ? ',' : ''}"name":"a","name":"b","message":"c","message":"d"}`,
  'deep nesting': (t) => `${t.slice(0, -1)}${t.length > 2 ? ',' : ''}"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
  'deep objects': (t) => `${t.slice(0, -1)}${t.length > 2 ? ',' : ''}"metadata":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`,
  'many fields': (t) =>
    `${t.slice(0, -1)}${t.length > 2 ? ',' : ''}${Array.from({ length: 60_000 }, (_, i) => `"f${i}":${i}`).join()}}`,
  'a comment': (t) => `/* x */${t}`,
  NaN: (t) => t.replace(/:[^,}]+/, ':NaN'),
  'too large': (t) => t + ' '.repeat(1_100_000),
  form: () => 'name=x&message=y',
}

const headerValue = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
  fc.string({ unit: fc.integer({ min: 0xa0, max: 0xff }).map((n) => String.fromCharCode(n)), maxLength: 10 }),
  fc.constantFrom(
    '',
    ' ',
    '"',
    '""',
    '"x"',
    ',',
    ';',
    '*',
    '0',
    '-1',
    'NaN',
    'null',
    'x'.repeat(255),
    'x'.repeat(256),
    'x'.repeat(5_000),
  ),
)
export const header: fc.Arbitrary<[string, string]> = fc.oneof(
  fc.tuple(
    fc.constant('content-type'),
    fc.constantFrom(
      ...[
        'application/json',
        'Application/JSON;Charset=UTF-8',
        'application/json; charset=utf-16',
        'application/json;',
        'text/plain',
        'text/json',
      ],
      ...[
        'application/x-www-form-urlencoded',
        'multipart/form-data',
        'multipart/form-data; boundary=x',
        'multipart/form-data; boundary=',
        'x',
        '',
        '/',
        ';',
      ],
      ...[
        'application/json, application/json',
        'application/json; a="',
        'multipart/form-data; boundary="a',
        `application/${'x'.repeat(2_000)}`,
      ],
    ),
  ),
  fc.tuple(fc.constant('content-encoding'), fc.constantFrom('gzip', 'identity', '', 'x', 'br, gzip')),
  fc.tuple(fc.constant('idempotency-key'), fc.oneof(headerValue, fc.constantFrom('a', 'b', '"a"', 'a b', 'é'))),
  fc.tuple(
    fc.constant('accept'),
    fc.constantFrom(
      ...[
        'text/event-stream',
        '*/*',
        '',
        'application/xml',
        'text/event-stream;q=0',
        'text/event-stream;q=x, application/json;q=0.5',
      ],
      ...[
        'text/event-stream;;q=1;q=',
        'application/json;q=-1,text/event-stream;q=NaN',
        ','.repeat(500),
        `text/event-stream${';q=1'.repeat(500)}`,
      ],
    ),
  ),
  fc.tuple(fc.constant('x-request-id'), headerValue),
  fc.tuple(
    fc.constant('last-event-id'),
    fc.oneof(headerValue, fc.constantFrom('1:0', '0-end', `${'0'.repeat(36)}:5`, '9'.repeat(30))),
  ),
  fc.tuple(fc.constant('range'), fc.constantFrom('bytes=0-', 'bytes=-5', 'bytes=9-1', 'items=0-1', 'x')),
  fc.tuple(fc.constant('origin'), fc.oneof(headerValue, fc.constantFrom('null', 'https://example.com'))),
  fc.tuple(
    fc.constant('authorization'),
    fc.oneof(headerValue, fc.constantFrom('Bearer', 'Bearer x', 'Basic eDp4', 'bearer  rpt_x')),
  ),
  fc.tuple(
    fc.constantFrom(
      'x-forwarded-for',
      'forwarded',
      'if-match',
      'if-none-match',
      'x-http-method-override',
      'cookie',
      'te',
      'prefer',
      'accept-encoding',
      'accept-charset',
      'via',
      'upgrade-insecure-requests',
      'access-control-request-method',
      'traceparent',
      'content-md5',
      'referer',
    ),
    headerValue,
  ),
)

/** Header lines that an HTTP library would not send. */
const line = fc.constantFrom(
  ...[
    'Expect: 100-continue',
    'Expect: 200-maybe',
    'Expect:',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding: chunked, chunked',
    'Transfer-Encoding: identity',
  ],
  ...[
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding : chunked',
    'Content-Length: -1',
    'Content-Length: +2',
    'Content-Length: 1e3',
    'Content-Length: 99999999999999999999',
  ],
  ...[
    'Content-Length: 2, 2',
    'Content-Length:',
    'X-Request-Id: a\u0000b',
    'X-Request-Id: a\u0001b',
    'X-Request-Id: a\u007fb',
    'X-Request-Id: \u00ff',
    'X-Request-Id: a\r\n b',
  ],
  ...[
    'Idempotency-Key: \u0001',
    'Idempotency-Key: \u00e9\u0000',
    'Idempotency-Key: a\r\nIdempotency-Key: b',
    'X-Api-Key: x',
    'Authorization: Bearer \u00ff\u00fe',
  ],
  ...[
    'Host: other',
    'Host:',
    'Upgrade: websocket\r\nConnection: Upgrade',
    'Upgrade: h2c',
    'Connection: keep-alive, close, x',
    'Trailer: X',
    'no colon',
    ': no name',
    ' folded',
    'N\u00e4me: x',
  ],
  ...[
    'Content-Type: application/json\r\nContent-Type: text/plain',
    'Content-Type: application/json; charset=utf-8; charset=utf-16',
    'Accept: text/event-stream\r\nAccept: application/json',
  ],
  ...[
    `X-Long: ${'x'.repeat(20_000)}`,
    'X: y\r\n'.repeat(2_100).trim(),
    'Content-Type: application/json\u0000',
    'HTTP2-Settings: x',
    'Keep-Alive: timeout=-1',
    'Date: x',
    'Max-Forwards: 0',
  ],
)
export const frame: fc.Arbitrary<Frame> = fc.record({
  lines: fc.array(line, { minLength: 1, maxLength: 2 }),
  body: fc.constantFrom<Frame['body']>('length', 'length', 'chunked', 'both', 'none'),
  length: fc.constantFrom(0, 0, 0, -1, -5, 1, 1_000),
})

/** Values to replace an id in a path. */
export const ODD_IDS = [
  ...[
    'x',
    '%00',
    '..',
    '.',
    '%2e%2e',
    '%2F',
    '%ff',
    '%',
    '%zz',
    '%u0041',
    '%E2%80%AE',
    '%F0%9F%98%80',
    'null',
    'undefined',
    '-1',
    '1e3',
    '*',
  ],
  ...['00000000-0000-0000-0000-000000000000', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', '{00000000-0000-0000-0000-000000000000}'],
  ...[
    '00000000000000000000000000000000',
    'urn:uuid:00000000-0000-0000-0000-000000000000',
    '00000000-0000-0000-0000-00000000000',
    '',
  ],
  ...[
    '00000000-0000-0000-0000-000000000000%20',
    '00000000-0000-0000-0000-000000000000%0a',
    '__proto__',
    'constructor',
    '(x)',
    ';x=1',
    'import',
    'a'.repeat(3_000),
  ],
]

export interface OddRequest {
  method: string
  /** In the form that `Client` accepts. */
  target: string
  headers: [name: string, value: string][]
  body: string | Buffer | undefined
  frame: Frame | undefined
}

interface Answered {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

const MAX_BODY_BYTES = 1_048_576

/** Returns whether a library sends this target unchanged. */
const isPlain = (target: string) => /^[\x21-\x7e]*$/.test(target) && !/\/(\.|%2e){1,2}([/?]|$)|[#\\]/i.test(target)

/** Returns whether the body is shorter than its Content-Length, as from a caller that breaks off. */
const isShort = (frame: Frame | undefined) => frame !== undefined && frame.length > 0 && frame.body === 'length'

/** Sends a request with a library if possible, otherwise as bytes. Rejects if a required response does not arrive in time. */
export async function sendOdd(client: Client, made: OddRequest): Promise<Answered[]> {
  const { target, body, frame } = made
  const isOver = body !== undefined && body.length >= MAX_BODY_BYTES
  const answers: (Answered | undefined)[] =
    frame === undefined && isPlain(target)
      ? [await ask(client, made, isOver)]
      : await exchange(client, bytesOf(client, made), { leaves: isShort(frame) })
  const found = answers.filter((answer) => answer !== undefined)
  assert.ok(found.length > 0 || isShort(frame) || isOver, 'an answer')
  return found
}

async function ask(
  client: Client,
  { method, target, headers, body }: OddRequest,
  isOver: boolean,
): Promise<Answered | undefined> {
  const given: Record<string, string[]> = {}
  for (const [name, value] of headers) given[name] = [...(given[name] ?? []), value]
  const sent = Object.fromEntries(
    Object.entries(given).map(([name, [value, ...more]]) => [name, more.length === 0 ? value! : [value!, ...more]]),
  )
  const signal = AbortSignal.timeout(CLOSES_WITHIN_MS)
  const asked = client.request(method, target, { ...(body === undefined ? {} : { bytes: body }), headers: sent, signal })
  return asked.catch((error: unknown) => {
    // A body over its limit is rejected before it has arrived, so the connection can close while it is still being sent.
    if (signal.aborted || !isOver) throw error
    return undefined
  })
}

function bytesOf(client: Client, { method, target, headers, body, frame }: OddRequest): Buffer {
  const { host, pathname } = new URL(client.address.baseUrl)
  const path = target.startsWith('^') ? target.slice(1) : pathname + target
  const content = Buffer.from(body ?? '')
  const { lines, body: how, length } = frame ?? { lines: [], body: 'length', length: 0 }
  const isMeasured = how === 'length' || how === 'both'
  const isChunked = how === 'chunked' || how === 'both'
  const head = [
    `${method} ${Buffer.from(path).toString('latin1')} HTTP/1.1`,
    `Host: ${host}`,
    `X-API-Key: ${client.key}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(content.length === 0 ? [] : ['Content-Type: application/json']),
    ...(isMeasured ? [`Content-Length: ${Math.max(0, content.length + length)}`] : []),
    ...(isChunked ? ['Transfer-Encoding: chunked'] : []),
    ...lines,
  ]
  const chunks = isChunked
    ? [Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from(content.length === 0 ? '\r\n' : '\r\n0\r\n\r\n')]
    : [content]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), ...chunks])
}
