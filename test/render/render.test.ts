import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { renderHtml } from '../../src/render/render.ts'

const render = (markdown: string, hosts: string[] = []) => renderHtml(markdown, hosts)

describe('Markdown as HTML', () => {
  const cases: [name: string, markdown: string, html: RegExp][] = [
    ['emphasis and code', '**b** *i* `c`', /<strong>b<\/strong> <em>i<\/em> <code>c<\/code>/],
    ['headings and lists', '# H\n\n1. a\n2. b', /<h1>H<\/h1>\s*<ol>\s*<li>a<\/li>\s*<li>b<\/li>/],
    ['code blocks keep their language', '```js\nx < 1\n```', /<pre><code class="language-js">x &lt; 1\n<\/code><\/pre>/],
    [
      'tables, aligned',
      '|a|b|\n|:-:|--|\n|1|2|',
      /<table>[\s\S]*<th style="text-align:center">a<\/th>\s*<th>b<\/th>[\s\S]*<td>2<\/td>/,
    ],
    [
      'tables, aligned in each way',
      '|a|b|c|\n|:--|:-:|--:|\n|1|2|3|',
      /<td style="text-align:left">1<\/td>\s*<td style="text-align:center">2<\/td>\s*<td style="text-align:right">3<\/td>/,
    ],
    ['strikethrough', '~~x~~', /<del>x<\/del>/],
    ['strikethrough with one tilde', 'a ~b~ ~~c~~', /<p>a <del>b<\/del> <del>c<\/del><\/p>/],
    ['ranges are not struck', '5~10 and 7~9, ~3 to ~4, ~a~~', /<p>5~10 and 7~9, ~3 to ~4, ~a~~<\/p>/],
    [
      'addresses become links',
      'see https://example.com/a.',
      /<a href="https:\/\/example\.com\/a" rel="noopener nofollow">https:\/\/example\.com\/a<\/a>\./,
    ],
    [
      'addresses without a scheme, and brackets around them',
      '(www.example.com/a_(b)) www.example.com. index.js',
      /^<p>\(<a href="http:\/\/www\.example\.com\/a_\(b\)" [^>]*>www\.example\.com\/a_\(b\)<\/a>\) <a href="http:\/\/www\.example\.com" [^>]*>www\.example\.com<\/a>\. index\.js<\/p>/,
    ],
    [
      'addresses in capitals, and of mail',
      'WWW.Example.com\n\nme@example.com\n\nHTTPS://a.example',
      /href="http:\/\/www\.example\.com"[\s\S]*href="mailto:me@example\.com"[\s\S]*href="https:\/\/a\.example"/i,
    ],
    [
      'an address ends before marks',
      '~~http://a.example~~ **https://b.example**',
      /<del><a href="http:\/\/a\.example" [^>]*>http:\/\/a\.example<\/a><\/del> <strong><a href="https:\/\/b\.example"/,
    ],
    [
      'task lists',
      '- [x] a\n- [ ] b',
      /<input type="checkbox" disabled checked \/> a<\/li>\s*<li><input type="checkbox" disabled \/> b/,
    ],
  ]
  for (const [name, markdown, html] of cases) test(name, async () => assert.match(await render(markdown), html))
})

describe('Markdown that multiplies', () => {
  const row = (cell: string, columns: number) => `|${`${cell}|`.repeat(columns)}\n`
  const cases: [name: string, markdown: string][] = [
    ['cells that short rows lack', row('', 181) + row('-', 181) + '|\n'.repeat(1_500)],
    ['several such tables', `${row('', 180)}${row('-', 180)}${'|\n'.repeat(360)}\n`.repeat(3)],
    ['a long address of many links', `[a]: /${'x'.repeat(40_000)}\n\n${'[a]'.repeat(10_000)}`],
    ['a long title of many images', `[a]: /x "${'&'.repeat(500)}"\n\n${'![a]'.repeat(1_000)}`],
    ['quotes in quotes', `${'>'.repeat(99)}\n\n`.repeat(100)],
  ]
  for (const [name, markdown] of cases)
    test(`is shown as it is written: ${name}`, async () => {
      const html = await render(markdown)
      assert.ok(html.length < 5 * markdown.length + 50_000, `${html.length} characters`)
      assert.match(html, /^<pre>/)
    })

  test('a table with empty cells is no such Markdown', async () => {
    const html = await render(row('a', 20) + row(':-:', 20) + row(' ', 20).repeat(50))
    assert.equal(html.match(/<td /g)?.length, 1_000)
  })
})

describe('what cannot act', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt&#58;alert(1))',
    '[x](data:text/html;base64,PHNjcmlwdD4=)',
    '[x](vbscript:x)',
    '![x](javascript:alert(1))',
    '<a href="javascript:alert(1)">x</a>',
    '<style>*{background:url(http://evil)}</style>',
    '<iframe src="http://evil"></iframe>',
    '<form action="http://evil"><input name=a></form>',
    '<svg onload=alert(1)>',
    '[x](http://a "onmouseover=alert(1)")',
    '```"><script>alert(1)</script>\nx\n```',
    '[x]: javascript:alert(1)\n\n[x]',
    '<xmp><script>alert(1)</script></xmp>',
  ]
  for (const markdown of hostile) {
    test(markdown.replaceAll('\n', '⏎'), async () => {
      const html = await render(markdown)
      // What is left in angle brackets is markup: none of it may be able to act.
      const markup = html.match(/<[^>]*>/g)?.join('') ?? ''
      assert.doesNotMatch(markup, /<(script|style|iframe|form|svg|img|xmp|object)|\son\w+=|href="(?!https?:|mailto:)|src=/i)
    })
  }

  test('an image becomes a link, unless its host is listed', async () => {
    const markdown = '![logo](https://cdn.example/x.png)'
    assert.equal((await render(markdown)).trim(), '<p><a href="https://cdn.example/x.png" rel="noopener nofollow">logo</a></p>')
    assert.match(await render(markdown, ['cdn.example']), /<img src="https:\/\/cdn\.example\/x\.png" alt="logo" \/>/)
    assert.doesNotMatch(await render(markdown, ['example']), /<img/)
  })

  test('the address of an image leads to the listed host on every page', async () => {
    for (const markdown of ['![x](https:cdn.example/../../out?a=1)', '![x](https:/cdn.example/out?a=1)'])
      assert.match(await render(markdown, ['cdn.example']), /<img src="https:\/\/cdn\.example\/out\?a=1" alt="x" \/>/)
  })

  test('deep nesting is rendered in time, and breaks nothing', async () => {
    for (const markdown of ['> '.repeat(20_000), '['.repeat(20_000), '*a '.repeat(10_000), `${'- '.repeat(5_000)}x`]) {
      assert.equal(typeof (await render(markdown)), 'string')
    }
  })
})

describe('long Markdown', () => {
  const long = (text: string) => `${text} and so on.\n\n`.repeat(2_000)

  test('is rendered as short Markdown is, with the hosts of images', async () => {
    const paragraph = (await render('**b** ![a](https://ours.example/a.png) and so on.', ['ours.example'])).trimEnd()
    assert.equal(await render(long('**b** ![a](https://ours.example/a.png)'), ['ours.example']), `${paragraph}\n`.repeat(2_000))
  })

  test('is not rendered in the thread of the caller', async () => {
    let turns = 0
    const timer = setInterval(() => turns++)
    await render(long('a [b](https://example.com) c'))
    clearInterval(timer)
    assert.ok(turns > 1, 'nothing else ran meanwhile')
  })

  test('of one owner does not wait for all of another', async () => {
    const ended: string[] = []
    const many = Array.from({ length: 5 }, (_, i) => renderHtml(long('a'), [], 'many').then(() => ended.push(`many ${i}`)))
    await Promise.all([...many, renderHtml(long('b'), [], 'one').then(() => ended.push('one'))])
    assert.ok(ended.indexOf('one') <= 2, ended.join())
  })

  test('that ends the thread fails alone', async () => {
    const broken = renderHtml(long('![a](https://ours.example/a.png)'), [null as unknown as string])
    const next = renderHtml(long('a'), [])
    await assert.rejects(broken, { code: 'unavailable' })
    assert.match(await next, /^<p>a and so on/)
  })
})
