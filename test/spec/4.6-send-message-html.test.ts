// Specification 4.6, rule 3: "aiMessage.content follows the requested format"
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { says } from '../support/model-server.ts'
import { needsProcess, startService } from '../support/service.ts'

const service = await startService()
const { client, model } = service
after(() => service.stop())
let agentId: string
let session: string
beforeEach(async () => {
  model.reset()
  agentId = await service.newAgent()
  session = await service.newSession(agentId)
})

async function reply(markdown: string, format?: string): Promise<string> {
  model.behaviour = says(markdown)
  const answer = await client.post(`${session}/messages`, { message: 'Show me', format })
  isOk(answer)
  return answer.body.aiMessage.content
}

describe('4.6 format', { skip: needsProcess }, () => {
  test('"Default markdown": the reply as the model wrote it', async () => {
    const text = '# Title\n\n- **bold** <b>raw</b> ![x](https://example.com/x.png)\n'
    assert.equal(await reply(text), text)
    assert.equal(await reply(text, 'markdown'), text)
  })

  for (const [about, markdown, html] of [
    ['headings and emphasis', '# One\n\n*two* **three**', /<h1>One<\/h1>\s*<p><em>two<\/em> <strong>three<\/strong><\/p>/],
    ['lists', '1. one\n2. two\n\n- three', /<ol>\s*<li>one<\/li>\s*<li>two<\/li>\s*<\/ol>\s*<ul>\s*<li>three<\/li>\s*<\/ul>/],
    [
      'code',
      '`a < b`\n\n```js\nlet x\n```',
      /<code>a &lt; b<\/code>[\s\S]*<pre><code class="language-js">let x\n<\/code><\/pre>/,
    ],
    ['tables', '| a | b |\n|---|--:|\n| 1 | 2 |', /<table>[\s\S]*<th>a<\/th>[\s\S]*<td[^>]*>2<\/td>[\s\S]*<\/table>/],
    ['strikethrough', '~~gone~~', /<(del|s)>gone<\/\1>/],
    ['quotes and breaks', '> said\n\n---', /<blockquote>\s*<p>said<\/p>\s*<\/blockquote>\s*<hr ?\/?>/],
    [
      'task lists',
      '- [ ] open\n- [x] done',
      /<input[^>]*type="checkbox"[^>]*disabled[^>]*>\s*open[\s\S]*<input[^>]*checked[^>]*>\s*done/,
    ],
  ] as const) {
    test(`html renders ${about}`, async () => assert.match(await reply(markdown, 'html'), html))
  }

  test('links, and addresses that stand alone, carry rel="noopener nofollow"', async () => {
    const html = await reply('[a](https://example.com/a?x=1&y=2) and https://example.com/b and <https://example.com/c>', 'html')
    const links = html.match(/<a [^>]*>/g) ?? []
    assert.equal(links.length, 3)
    for (const link of links) assert.match(link, /rel="noopener nofollow"/)
    assert.match(html, /href="https:\/\/example\.com\/a\?x=1&amp;y=2"/)
  })

  for (const hostile of [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<style>*{display:none}</style>',
    '<iframe src="https://evil.example"></iframe>',
    '<form action="https://evil.example"><input name=a><button>ok</button></form>',
    '<svg onload=alert(1)><a xlink:href="javascript:alert(1)">x</a></svg>',
    '<a href="https://ok.example" onclick="alert(1)" style="position:fixed">x</a>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt&colon;alert(1))',
    '[x](vbscript:x) [y](data:text/html;base64,PHNjcmlwdD4=) [z](file:///etc/passwd)',
    '![x](javascript:alert(1)) ![y](data:image/svg+xml;base64,PHN2Zz4=)',
    '<base href="https://evil.example"><meta http-equiv="refresh" content="0;url=https://evil.example"><link rel="stylesheet" href="//evil.example">',
    '<object data="x"></object><embed src="x"><video src="https://evil.example/v"></video><math><mtext></mtext></math>',
    '```"><script>alert(1)</script>\nx\n```',
    '[x](https://ok.example "\\" onmouseover=alert(1)")',
  ]) {
    test(`html is sanitised, whatever the model writes: ${JSON.stringify(hostile)}`, async () => {
      const html = await reply(`Before\n\n${hostile}\n\nAfter`, 'html')
      const tags = html.match(/<[a-z][^>]*>/gi) ?? []
      for (const tag of tags) {
        assert.doesNotMatch(tag, /^<(script|style|iframe|form|button|svg|math|object|embed|video|base|meta|link|img)\b/i)
        assert.doesNotMatch(tag.replace(/"[^"]*"/g, '""'), /\son\w+\s*=/i)
        assert.doesNotMatch(tag, /(href|src)="\s*(javascript|vbscript|data|file):/i)
        assert.doesNotMatch(tag, /style="[^"]*(position|display|url|expression)/i)
      }
      assert.match(html, /Before[\s\S]*After/)
    })
  }

  test('images become links unless the agent lists their host', async () => {
    const picture = '![A *kettle*](https://img.example/kettle.png)'
    const linked = await reply(picture, 'html')
    assert.doesNotMatch(linked, /<img/)
    assert.match(linked, /<a [^>]*href="https:\/\/img\.example\/kettle\.png"[^>]*>A kettle<\/a>/)
    isOk(await client.patch(`/agents/${agentId}`, { imageHosts: ['img.example'] }))
    assert.match(await reply(picture, 'html'), /<img [^>]*src="https:\/\/img\.example\/kettle\.png"[^>]*alt="A kettle"/)
    for (const other of [
      'https://evil.example/x.png',
      'https://img.example.evil.example/x.png',
      'https://img.example@evil.example/x.png',
      '//img.example/x.png',
      'data:image/png;base64,AAAA',
    ]) {
      assert.doesNotMatch(await reply(`![x](${other})`, 'html'), /<img/, other)
    }
  })

  test('a listed host is the same host in upper and lower case', async () => {
    isOk(await client.patch(`/agents/${agentId}`, { imageHosts: ['IMG.Example'] }))
    assert.match(await reply('![x](https://img.EXAMPLE/x.png)', 'html'), /<img/)
  })

  test('what is stored and later returned is what was sent; the Markdown source goes into later prompts', async () => {
    const html = await reply('Some **bold** text', 'html')
    assert.equal(html.trim(), '<p>Some <strong>bold</strong> text</p>')
    assert.equal((await client.get(session)).body.messages[1].content, html)
    assert.equal((await client.get(`${session}/messages`)).body.messages[1].content, html)
    assert.equal(await reply('Plain', 'markdown'), 'Plain')
    assert.ok(model.lastPrompt.some(({ role, content }) => role === 'assistant' && content === 'Some **bold** text'))
    assert.ok(!JSON.stringify(model.lastPrompt).includes('<strong>'))
  })
})
