// Regular expressions that meet text from outside take time by its length, and not by the square of that: one text must not hold up everybody.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtPatterns, isSuperlinear, type Pattern, patternsIn, pumped } from './support/patterns.ts'

const OPERATOR = 'a setting or an argument of whoever runs the service'
/** By place: what bounds the text that a pattern is used on. */
const BOUNDED: Record<string, string> = {
  'client/src/connection.ts /\\/+$/': OPERATOR,
  'src/cli/agents/create.ts /^(\\S*[/\\\\])?\\S+\\.(md|markdown|txt)$/i': OPERATOR,
  'src/cli/serve.ts /\\/+$/': OPERATOR,
  'src/cli/service.ts /\\/+$/': OPERATOR,
  'src/models/transport/http.ts /\\/+$/': OPERATOR,
  'src/models/vendors.ts /\\/+$/': OPERATOR,
  'src/config/parse-providers.ts /\\/+$/': OPERATOR,
  'src/config/parse-providers.ts /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i': OPERATOR,
  'console/src/queries/metrics.ts /(\\w+)="((?:[^"\\\\]|\\\\.)*)"/g': 'what the service itself counts',
  'src/turns/name-session.ts /^["\'*#\\s]+|["\'*.\\s]+$/g': '500 characters',
}

function slowOnes(patterns: readonly Pattern[]): string[] {
  const slow: string[] = []
  for (const { file, regExp } of patterns) {
    if (BOUNDED[`${file} ${regExp}`] !== undefined) continue
    for (const pump of pumped(regExp)) {
      if (!isSuperlinear(regExp, pump)) continue
      slow.push(`${file}: ${regExp} on ${JSON.stringify(pump(8))}`)
      break
    }
  }
  return slow
}

test('a pattern that takes the square of the length is seen', () => {
  const bad = [/\s+$/, /[<](?=\s*\/?\s*b)/i, /^(?:\ufeff|\s)*</].map((regExp) => ({ file: 'bad', regExp }))
  assert.equal(slowOnes(bad).length, bad.length)
})

test('patterns of the source are linear, or what they are used on is short', () => {
  const patterns = patternsIn('{src,client/src,widget/src,console/src}/**/*.{ts,tsx,js}')
  assert.deepEqual(slowOnes(patterns), [])
  const known = new Set(patterns.map(({ file, regExp }) => `${file} ${regExp}`))
  assert.deepEqual(
    Object.keys(BOUNDED).filter((place) => !known.has(place)),
    [],
    'these are gone',
  )
})

test('patterns that are built from texts are, too', async () => {
  const files = [
    'src/retrieval/tagged.ts',
    'src/access/user-token.ts',
    'src/knowledge/answer/answer-types.ts',
    'src/render/html.ts',
  ]
  const built = await builtPatterns(files)
  assert.ok(built.length >= files.length)
  assert.deepEqual(slowOnes(built), [])
})
