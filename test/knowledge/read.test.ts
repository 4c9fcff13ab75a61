import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { DocumentError } from '../../src/core/document-error.ts'
import { readDocument } from '../../src/knowledge/read/read.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)
const fixture = (name: string): Uint8Array => readFileSync(new URL(`../fixtures/read/${name}`, import.meta.url))
const markdown = (text: string): ReturnType<typeof readDocument> =>
  readDocument({ mediaType: 'text/markdown', content: bytes(text) })
const html = (text: string): ReturnType<typeof readDocument> => readDocument({ mediaType: 'text/html', content: bytes(text) })
const plain = (text: string): ReturnType<typeof readDocument> => readDocument({ mediaType: 'text/plain', content: bytes(text) })
const squeezed = (text: string): string => text.replace(/\s+/gu, '')
const refuses = (read: Promise<unknown>, code: string, reason: RegExp): Promise<void> =>
  assert.rejects(read, (error) => error instanceof DocumentError && error.code === code && reason.test(error.message))

test('the title and the headings that passages repeat count with the text', async () => {
  const sections = (count: number) => `# ${'Title '.repeat(65)}\n\n${'###### Part?\n\nWord.\n\n'.repeat(count)}`
  const { title, passages } = await markdown(sections(2_000))
  assert.equal(passages.length, 2_000)
  const repeated = title!.length + passages[1]!.heading.length
  assert.ok(repeated > 600, `${repeated} characters`)
  await assert.rejects(markdown(sections(30_000_000 / repeated)), { code: 'too_large', message: /shorter headings/ })
})

describe('Markdown', () => {
  test('is read as its readers see it, without front matter and comments; the front matter gives the title', async () => {
    const { title, passages } = await readDocument({ mediaType: 'text/markdown', content: fixture('handbook.md') })
    assert.equal(title, 'The Lantern handbook')
    assert.equal(passages.length, 1)
    const { text } = passages[0]!
    assert.ok(text.startsWith('# Lantern'))
    assert.ok(text.includes('```sh\n# this is no heading\nnpm install -g lantern\nlantern start\n```'))
    assert.ok(text.includes('- Green lamps stay on until dawn.'))
    assert.ok(text.includes('| Lamp | Watts |\n| --- | --- |\n| red | 5 |'))
    assert.ok(!text.includes('not text'))
  })

  const textOf = async (text: string): Promise<string> =>
    (await markdown(text)).passages.map((passage) => passage.text).join('\n\n')
  for (const [about, written, read] of [
    ['hard-wrapped lines', 'One line\nand *its* end.', 'One line and *its* end.'],
    ['Japanese lines', '**注意：**これは\nテストです。', '注意：これはテストです。'],
    [
      'links of the web',
      'See [the *site*](https://a.example/x), [here](./y.md) and <https://a.example>.',
      'See [the *site*](https://a.example/x), here and https://a.example.',
    ],
    ['images and anchors', '<a id="x"></a>![A picture](p.png) Text {#own}', 'Text'],
    ['entities and escapes', 'a &lt;b&gt; \\*c\\* d_e_f 2 * 3 &amp; 4&#x20;', 'a \\<b> \\*c\\* d_e_f 2 * 3 & 4'],
    ['placeholders', 'Call it with <your-key>.', 'Call it with \\<your-key>.'],
    ['components', 'import X from "./x"\n\n<Card a={{ b: 1 }}>\n\nText {/* no */}\n\n</Card>', 'Text'],
    ['callouts', '> [!NOTE]\n> Mind this.', 'Mind this.'],
    ['containers', ':::tip My tip\nMind this.\n:::\nEnd.', '**My tip**\n\nMind this.\n\nEnd.'],
    ['admonitions', '!!! note "Mind"\n    One\n    two.\n\nEnd.', '**Mind**\n\nOne two.\n\nEnd.'],
    ['shortcodes', 'A {{< ref "x" >}}b {{ site.url }}c{% raw %}.', 'A b c.'],
    ['attributes', '[Text](https://a.example){:target="_blank"}{:rel="x"} goes on.', '[Text](https://a.example) goes on.'],
    ['wikilinks', 'See [[page|the page]], [[other]] and ![[embed]].', 'See the page, other and .'],
    ['footnotes', 'Text[^1].\n\n[^1]: The note.', 'Text.\n\nThe note.'],
    ['tables of contents', '- [A](#a)\n- [B](other.md#b)\n\nText.', 'Text.'],
    [
      'code',
      '`[[x]] {{ y }}` and\n\n```js\nimport X from "./x"\n[[x]] {% y %}\n```',
      '`[[x]] {{ y }}` and\n\n```js\nimport X from "./x"\n[[x]] {% y %}\n```',
    ],
    ['steps with code', '1. One:\n   ```sh\n   run\n   ```\n2. Two', '1. One:\n   ```sh\n   run\n   ```\n2. Two'],
  ] as const)
    test(`is resolved: ${about}`, async () => assert.equal(await textOf(written), read))

  test('what unfolds, is asked in bold or is a term heads the text that answers it', async () => {
    for (const [written, headings] of [
      ['<details><summary>How long?</summary>\n\nA week.\n\n</details>\n\nEnd.', ['T › How long?', 'T']],
      ['**How long?**\n\nA week.\n\n**How much?** Ten.', ['T › How long?', 'T › How much?']],
      ['{{% faq "How long?" %}}\nA week.\n{{% /faq %}}\n\nEnd.', ['T › How long?', 'T']],
      ['{% accordion title="How long?" %}\nA week.\n{% endaccordion %}', ['T › How long?']],
      ['<Accordion title="How long?">\n\nA week.\n\n</Accordion>\n\nEnd.', ['T › How long?', 'T']],
      ['??? question "How long?"\n    A week.\n\nEnd.', ['T › How long?', 'T']],
      ['<dl><dt>How long?</dt><dd>A week.</dd><dt>How much?</dt><dd>Ten.</dd></dl>', ['T › How long?', 'T › How much?']],
    ] as const) {
      const { passages } = await markdown(`# T\n\n${written}`)
      assert.deepEqual(
        passages.map(({ heading }) => heading),
        headings,
        written,
      )
    }
  })

  test('a passage knows the headings above it, outermost first, and its own heading stands in its text', async () => {
    const filler = 'Words that fill the section so that it is long enough. '.repeat(15)
    const { passages } = await markdown(`# A\n\n## B\n\n${filler}\n\n### C *d*\n\n${filler}\n\n## E\n\n${filler}`)
    assert.deepEqual(
      passages.map((passage) => passage.heading),
      ['A › B', 'A › B › C d', 'A › E'],
    )
    assert.ok(passages[2]!.text.startsWith('## E'))
  })

  test('of long headings above a passage, the innermost are repeated in it', async () => {
    const level = (depth: number, chars: number) => `${'#'.repeat(depth)} ${'x'.repeat(chars)}`
    const headingsBelow = async (...headings: string[]) => {
      const sections = Array.from({ length: 50 }, (_, n) => `###### ${n}?\n\nWord.`)
      const { passages } = await markdown([...headings, ...sections].join('\n\n'))
      return passages.slice(1).map(({ heading }) => heading)
    }
    for (const heading of await headingsBelow(...[1, 2, 3, 4, 5].map((depth) => level(depth, 490))))
      assert.match(heading, /^\d+\?$/)
    for (const heading of await headingsBelow(level(1, 200), level(2, 200), level(3, 180)))
      assert.match(heading, /^x{200} › x{180} › \d+\?$/)
    for (const heading of await headingsBelow(level(1, 190), level(2, 190))) assert.match(heading, /^x{190} › x{190} › \d+\?$/)
    const { passages } = await markdown(`${level(1, 490)}\n\nWord.`)
    assert.equal(passages[0]!.heading.length, 490)
  })

  test('the line that leads up to code goes with the code', async () => {
    const code = `\`\`\`\n${'step\n'.repeat(150)}\`\`\``
    const { passages } = await markdown(`${'Some text before. '.repeat(60)}\n\nRun this:\n\n${code}\n\nThe end of it all.`)
    assert.ok(passages.some((passage) => passage.text.includes(`Run this:\n\n${code}`)))
  })
})

describe('HTML', () => {
  test('is read for its main content as Markdown', async () => {
    const { title, passages } = await readDocument({ mediaType: 'text/html', content: fixture('page.html') })
    assert.equal(title, 'Lamps & more')
    const expected =
      '# Lamps\n\nFirst\nline \\<b> **bold**.\n\nSecond.\n\n- One\n  - inner\n- Two\n\n1. a\n2. b\n\n| Lamp | Watts |\n| --- | --- |\n| red | 5 |\n\n```\nx =  1\ny\n```'
    assert.deepEqual(passages, [{ text: expected, heading: 'Lamps', page: null }])
  })

  test('of a page that marks no main content, all but what stands around it is read; of one that is nothing else, that', async () => {
    assert.equal((await html('<nav>Menu</nav><p>Body</p><footer>Foot</footer>')).passages[0]!.text, 'Body')
    assert.equal((await html('<nav>Menu</nav>')).passages[0]!.text, 'Menu')
  })

  test('is read without what is there to move about: skip links, marks beside headings, links to the top, lists of contents', async () => {
    const page = `<div id="jump-to-nav" class="mw-jump">Jump to: <a href="#a">navigation</a></div><a class="skip-link" href="#main">Skip</a>
      <h2>Contents</h2><ul><li><a href="#lamps">Lamps</a></li><li><a href="#bells">Bells</a></li></ul>
      <h2 id="lamps">Lamps<a class="headerlink" href="#lamps">¶</a></h2><p>Lamps are red. <a href="#top">back to top</a></p>
      <h2>Contents</h2><p class="toc-free">A box holds <a href="#lamps">lamps</a>.</p>`
    const text = (await html(page)).passages.map((passage) => passage.text).join('\n')
    assert.equal(text.replace(/\s*\n\s*/g, '\n'), '## Lamps\nLamps are red.\n## Contents\nA box holds lamps.')
  })

  test('the caption of a picture goes with it, and that of a table stays', async () => {
    const page = `<figure><img src="a.png"><figcaption>The lamp from behind</figcaption></figure><p>Lamps are red.</p>
      <figure><table><tr><td>5 watts</td></tr></table><figcaption>All watts</figcaption></figure>`
    const text = (await html(page)).passages.map((passage) => passage.text).join('\n')
    assert.ok(!text.includes('from behind'), text)
    assert.ok(text.includes('All watts'), text)
  })

  test('a line of a table may have a million cells without text', async () => {
    const { passages } = await html(`<table>${'<td>'.repeat(1_000_000)}lamp</table>`)
    assert.equal(passages[0]!.text, 'lamp')
  })

  test('a hundred thousand nested elements, and half an element, are read', async () => {
    for (const open of ['<div>', '<ul><li>x', '<table><tr><td>', '<a>', '<pre>', '<b']) {
      assert.ok((await html(`<p>hello</p>${open.repeat(100_000)}`)).passages.length > 0)
    }
  })
})

describe('bytes', () => {
  test('are decoded by byte-order mark, declared charset, UTF-8, and else as Windows-1252', async () => {
    const read = async (mediaType: string, content: Uint8Array): Promise<string> =>
      (await readDocument({ mediaType, content })).passages[0]!.text
    assert.equal(await read('text/plain', Buffer.from('\ufeffnaïve', 'utf16le')), 'naïve')
    assert.equal(await read('text/plain', Buffer.from('\ufeffnaïve')), 'naïve')
    assert.equal(await read('text/plain', Buffer.from('naïve', 'latin1')), 'naïve')
    assert.equal(
      await read('text/html', Buffer.concat([bytes('<meta charset="windows-1251"><p>'), Buffer.from([0xcf, 0xf0, 0xe8])])),
      'При',
    )
    assert.equal(await read('text/html; charset=utf-16', Buffer.from('<p>plain', 'utf16le')), 'plain')
    assert.equal(await read('text/plain; charset=UTF-16BE', Buffer.from('plain', 'utf16le').swap16()), 'plain')
    assert.equal(await read('text/html; charset=utf-16', bytes('<p>naïve')), 'naïve')
    assert.equal(await read('text/html', bytes('<meta charset="utf-16"><p>naïve')), 'naïve')
    assert.equal(await read('text/plain', bytes('a\r\nb\rc')), 'a\nb\nc')
  })

  test('that declare nothing are decoded by what they look like', async () => {
    const russian = 'Сегодня хорошая погода, и дети играют во дворе.'
    for (const [hex, text] of [
      [
        '8da193fa82cd93568b4382aa82e682ad81418e718b9f82bd82bf82cd92eb82c5975682f182c582a282dc82b78142',
        '今日は天気がよく、子供たちは庭で遊んでいます。',
      ],
      [
        'bfc0b4c3c0ba20b3afbebeb0a120c1c1bec6bcad20bec6c0ccb5e9c0cc20b8b6b4e7bfa1bcad20b3eeb0ed20c0d6bdc0b4cfb4d92e',
        '오늘은 날씨가 좋아서 아이들이 마당에서 놀고 있습니다.',
      ],
      ['f3c5c7cfc4ced120c8cfd2cfdbc1d120d0cfc7cfc4c12c20c920c4c5d4c920c9c7d2c1c0d420d7cf20c4d7cfd2c52e', russian],
      ['d1e5e3eee4edff20f5eef0eef8e0ff20efeee3eee4e02c20e820e4e5f2e820e8e3f0e0fef220e2ee20e4e2eef0e52e', russian],
      [Buffer.from('Déjà vu à la carte, garçon.', 'latin1').toString('hex'), 'Déjà vu à la carte, garçon.'],
    ] as const)
      assert.equal((await readDocument({ mediaType: 'text/plain', content: Buffer.from(hex, 'hex') })).passages[0]!.text, text)
    const declared = `<meta charset="euc_kr"><p>`
    const page = Buffer.concat([
      bytes(declared),
      Buffer.from(
        'bfc0b4c3c0ba20b3afbebeb0a120c1c1bec6bcad20bec6c0ccb5e9c0cc20b8b6b4e7bfa1bcad20b3eeb0ed20c0d6bdc0b4cfb4d92e',
        'hex',
      ),
    ])
    assert.match((await readDocument({ mediaType: 'text/html', content: page })).passages[0]!.text, /^오늘은/)
  })

  test('of nothing but byte-order marks before the text do not hold up whoever asks what they are', async () => {
    const { mediaType, passages } = await plain(`${'\ufeff'.repeat(66)}x`)
    assert.deepEqual([mediaType, passages.length], ['text/plain', 1])
    assert.equal((await plain(`${'\ufeff \n'.repeat(10)}<!doctype html><p>x`)).mediaType, 'text/html')
  })

  test('that are no text are refused with the reason', async () => {
    const read = (mediaType: string, content: Uint8Array) => readDocument({ mediaType, content })
    await refuses(read('text/plain', Buffer.from('89504e470d0a1a0a', 'hex')), 'unsupported_type', /PNG/)
    await refuses(read('text/plain', Buffer.from('504b030414000000', 'hex')), 'unsupported_type', /ZIP/)
    await refuses(read('text/plain', Buffer.from('d0cf11e0a1b11ae1', 'hex')), 'encrypted', /password/)
    await refuses(read('video/mp4', bytes('x')), 'unsupported_type', /video/)
    await refuses(plain('a\0b'), 'not_text', /binary/)
    await refuses(plain(' \n\t '), 'blank', /no text/)
    await refuses(html('<script>x</script>'), 'blank', /no text/)
    await refuses(read('application/pdf', bytes('x')), 'damaged', /PDF/)
  })
})

describe('passages', () => {
  test('are the sections of a document; short ones stand together, unless they answer questions', async () => {
    const words = (count: number) => 'Some words. '.repeat(count)
    const headings = async (text: string) => (await markdown(text)).passages.map(({ heading }) => heading)
    assert.deepEqual(await headings(`# A\n\n${words(20)}\n\n## B\n\n${words(20)}`), ['A', 'A › B'])
    assert.deepEqual(await headings(`# A\n\n${words(20)}\n\n## B\n\n${words(2)}\n\n## C\n\n${words(2)}`), ['A', 'A'])
    assert.deepEqual(await headings(`# A\n\n${words(1)}\n\n## B?\n\n${words(1)}\n\n## C\n\n${words(1)}`), [
      'A',
      'A › B?',
      'A › C',
    ])
    assert.equal((await plain(words(150))).passages.length, 1)
  })

  test('of a long list, table or block of code repeat what leads up to it', async () => {
    const texts = async (text: string) => (await markdown(text)).passages.map((passage) => passage.text)
    const list = await texts(`These are the lamps:\n\n${'- A lamp of some kind\n'.repeat(100)}`)
    assert.ok(list.length > 1 && list.every((text) => text.startsWith('These are the lamps:\n\n- A lamp')))
    const table = await texts(`| Lamp | Watts |\n| --- | --- |\n${'| red and green | 500 |\n'.repeat(100)}`)
    assert.ok(table.length > 1 && table.every((text) => text.startsWith('| Lamp | Watts |\n| --- | --- |\n| red')))
    const code = await texts(`\`\`\`sh\n${'echo a line of code\n'.repeat(100)}\`\`\``)
    assert.ok(code.length > 1 && code.every((text) => text.startsWith('```sh\necho') && text.endsWith('code\n```')))
  })

  test('stay within their bound, also where there is no place to cut', async () => {
    const texts = [
      'x'.repeat(1_000_000),
      '😀'.repeat(10_000),
      'word '.repeat(50_000),
      'A sentence of words. '.repeat(5_000),
      'line\n'.repeat(10_000),
    ]
    for (const text of texts) {
      const { passages } = await plain(text)
      assert.ok(passages.every((passage) => passage.text.length <= 1_600 && passage.text.isWellFormed()))
    }
  })

  test('of headings alone stay within a bound, too', async () => {
    const texts = ['# a\n', 'a\n---\n'].map((line) => `# Start\n\n${line.repeat(60_000)}`)
    for (const text of [...texts, `# ${'word '.repeat(160_000)}`]) {
      const { passages } = await markdown(text)
      assert.ok(passages.every((passage) => passage.text.length <= 3_200))
      const letters = (all: string) => all.replace(/[^a-z]/gi, '')
      assert.equal(letters(passages.map((passage) => passage.text).join('')), letters(text))
    }
  })

  test('in order they are the document: no word lost, none doubled', async () => {
    const pieces = ['# Head\n', '## Sub\n', 'A sentence here. Another one, longer than that!\n', '- item\n', '  more\n', '\n', '1. step\n', '```\ncode\n\n```\n', 'a | b\n--|--\nc | d\n', `${'long '.repeat(700)}\n`, 'Title\n=====\n', '> quote\n', '---\n', `${'字'.repeat(1_700)}。\n`] // biome-ignore format: a table
    let state = 7
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((state / 2_147_483_648) * below)
    }
    for (let round = 0; round < 200; round++) {
      const text = `start\n${Array.from({ length: 1 + random(40) }, () => pieces[random(pieces.length)]).join('')}`
      const { passages } = await plain(text)
      assert.equal(squeezed(passages.map((passage) => passage.text).join('')), squeezed(text))
      // Of Markdown, marks are resolved, and heads of tables repeated.
      const words = (all: string) => all.match(/\p{Script=Latin}{2,}/gu)!
      assert.deepEqual(words((await markdown(text)).passages.map((passage) => passage.text).join('\n')), words(text))
    }
  })
})
