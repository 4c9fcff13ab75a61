import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Hit } from '../../src/core/ports/retrieval.ts'
import { Citer } from '../../src/reply/cite.ts'
import { SettledText } from '../../src/reply/settled-text.ts'

const hit = (text: string) => ({
  documentId: 'd',
  passageId: 'p',
  title: 't',
  heading: '',
  url: null,
  page: null,
  score: 1,
  text,
})
const HITS = [
  'The kettle weighs 900 grams. It holds two litres of water.',
  'The warranty lasts three years from the day of purchase.',
  'Returns are free within thirty days.',
].map((text) => hit(text) as unknown as Hit)

/** A turn whose text is set by hand. */
function growing(settle = (text: string) => text, text = '') {
  return {
    text,
    get length() {
      return this.text.length
    },
    read(start: number, chars: number) {
      return this.text.slice(start, start + chars)
    },
    settle,
  }
}

/** What a reader gets, piece by piece, of a reply that arrives in these pieces. */
function read(pieces: string[]) {
  const citer = new Citer(HITS, { question: 'What about it?' })
  const turn = growing((text) => citer.settle(text))
  const settled = new SettledText(turn)
  const got: string[] = []
  for (const piece of pieces) {
    turn.text += piece
    got.push(settled.next())
  }
  const kept = new Citer(HITS, { question: 'What about it?' }).settle(turn.text)
  const rest = settled.rest(kept)
  return { got, kept, whole: rest === undefined ? undefined : got.join('') + rest }
}

const REPLY = `The warranty lasts three years. [2] The kettle weighs 900 grams [1]. The moon is made of cheese [3], they say [9]. As they say [1], the kettle weighs 900 grams.

- Returns are free within thirty days [3]
- See [the page](https://example.com/) for more

\`\`\`
a[1] = b
\`\`\`
It holds two litres [1][2].`

describe('the text of a reply for readers that nothing can be taken back from', () => {
  test('comes out as the reply is kept, wherever it is cut', () => {
    const kept = read([REPLY]).kept
    assert.match(
      kept,
      /three years. \[1\] The kettle weighs 900 grams \[2\]. The moon is made of cheese, they say\. As they say \[2\], the/,
    )
    for (const size of [1, 2, 3, 7, 20, 100]) {
      const pieces = REPLY.match(new RegExp(`[^]{1,${size}}`, 'g'))!
      assert.equal(read(pieces).whole, kept, `pieces of ${size}`)
    }
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 50, maxLength: 400 }), (sizes) => {
        const pieces: string[] = []
        let at = 0
        for (const size of sizes) {
          pieces.push(REPLY.slice(at, at + size))
          at += size
        }
        assert.equal(read([...pieces, REPLY.slice(at)]).whole, kept)
      }),
      { seed: 1, numRuns: 50 },
    )
  })

  test('words are there at once; what follows a mark, when its sentence is over', () => {
    const { got } = read(['The kettle ', 'weighs 900', ' grams', ' [1', ']. ', 'The ', 'moon'])
    assert.deepEqual(got, ['The kettle', ' weighs 900', ' grams', '', '', ' [1]. The', ' moon'])
  })

  test('a text without passages is left as it is', () => {
    const turn = growing(undefined, 'A list[0] of [1] things')
    const settled = new SettledText(turn)
    assert.equal(settled.next() + settled.rest(turn.text), turn.text)
  })

  test('where the reply turned out otherwise, it says so', () => {
    const turn = growing(undefined, 'One thing')
    const settled = new SettledText(turn)
    assert.equal(settled.next(), 'One thing')
    assert.equal(settled.rest('Another thing'), undefined)
  })

  test('a long reply comes out as it is kept, too', () => {
    const long = Array.from({ length: 40 }, (_, i) => REPLY.replace('cheese', `cheese number ${i}`)).join('\n\n')
    for (const size of [3, 50, 5_000]) {
      const { whole, kept, got } = read(long.match(new RegExp(`[^]{1,${size}}`, 'g'))!)
      assert.equal(whole, kept, `pieces of ${size}`)
      if (size < 100) assert.ok(got.join('').length > kept.length - 1_000)
    }
  })

  test('a piece without marks costs the text around it, and not all that came before, also without spaces', () => {
    for (const piece of ['保修三年。', 'The lamp lasts. ', '漢字漢字']) {
      let chars = 0
      const turn = growing()
      const settled = new SettledText({
        get text() {
          chars += turn.text.length
          return turn.text
        },
        get length() {
          return turn.text.length
        },
        read(start, length) {
          chars += Math.min(length, turn.text.length - start)
          return turn.read(start, length)
        },
        settle: turn.settle,
      })
      let got = ''
      for (let i = 0; i < 3_000; i++) {
        turn.text += piece
        got += settled.next()
      }
      assert.equal(got, turn.text.trimEnd())
      assert.ok(chars < 3_000 * 1_200, `${chars} characters read`)
    }
  })

  test('a mark behind much text without spaces is held until its sentence is complete', () => {
    const citer = new Citer(HITS)
    const turn = growing((text) => citer.settle(text))
    const settled = new SettledText(turn)
    let got = ''
    for (let i = 0; i < 3_000; i++) {
      turn.text += '漢字'
      got += settled.next()
    }
    turn.text += '。The kettle weighs 900 grams '
    got += settled.next()
    turn.text += '[9'
    assert.equal(settled.next(), '')
    turn.text += ']. It'
    const kept = citer.settle(turn.text)
    assert.ok(kept.endsWith('。The kettle weighs 900 grams. It'), kept.slice(-50))
    assert.equal(got + settled.next() + settled.rest(kept), kept)
  })

  test('a sentence that does not end is not looked at again with each word', () => {
    let looks = 0
    const turn = growing()
    const settled = new SettledText({
      get text() {
        return turn.text
      },
      get length() {
        return turn.text.length
      },
      read(start, chars) {
        looks++
        return turn.read(start, chars)
      },
      settle: turn.settle,
    })
    for (let i = 0; i < 30_000; i++) {
      turn.text += '[1] '
      settled.next()
    }
    assert.ok(looks < 400, `${looks} looks`)
    assert.equal(settled.rest(turn.text), turn.text)
  })
})
