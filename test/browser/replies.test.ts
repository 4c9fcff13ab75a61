// Replies in HTML, looked at in a real browser: whatever a model writes, nothing runs, and nothing is loaded.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { renderHtml } from '../../src/render/render.ts'
import { openBrowser, type Seen, Viewer } from '../support/browser.ts'
import { hostileMarkdown } from '../support/hostile-markdown.ts'

const TOGETHER = 32

describe('replies in Chromium', () => {
  let browser: Browser
  let viewers: Viewer[]
  before(async () => {
    browser = await openBrowser()
    viewers = await Promise.all(Array.from({ length: 2 }, () => Viewer.open(browser)))
  })
  after(() => browser?.close())

  const isClean = ({ acted, loaded, active }: Seen) => acted.length + loaded.length + active.length === 0

  /** The pages that did something, or could: several are looked at together, and one by one where there is anything. */
  async function findGuilty(pages: string[]): Promise<{ page: string; seen: Seen }[]> {
    const guilty: { page: string; seen: Seen }[] = []
    let next = 0
    await Promise.all(
      viewers.map(async (viewer) => {
        for (let from = next; from < pages.length; from = next) {
          next += TOGETHER
          const some = pages.slice(from, from + TOGETHER)
          if (isClean(await viewer.look(some.join('\n')))) continue
          for (const page of some) {
            const seen = await viewer.look(page)
            if (!isClean(seen)) guilty.push({ page, seen })
          }
          assert.ok(guilty.length > 0, `together, but not one by one: ${some.join('\n')}`)
        }
      }),
    )
    return guilty
  }

  test('the viewer sees scripts, loads and active content where they are', async () => {
    for (const [html, what] of [
      ['<img src=x onerror=__ran(1)>', 'acted'],
      ['<script>__ran(1)</script>', 'acted'],
      ['<p onclick=__ran(1)>x</p>', 'acted'],
      ['<a href="javascript:alert(1)">x</a>', 'active'],
      ['<img src="https://evil.example/x.png">', 'loaded'],
      ['<style>main{background:url(https://evil.example/x)}</style>', 'loaded'],
      ['<p style="position:fixed">x</p>', 'active'],
    ] as const) {
      const seen = await viewers[0]!.look(html)
      assert.ok(seen[what].length > 0, `${html}: ${JSON.stringify(seen)}`)
    }
  })

  test(`${hostileMarkdown.length} hostile replies run nothing, load nothing and hold nothing active`, async () => {
    const pages = await Promise.all(hostileMarkdown.map((markdown) => renderHtml(markdown, [])))
    assert.deepEqual(await findGuilty(pages), [])
    assert.equal((await findGuilty([...pages.slice(0, 20), '<p onclick=__ran(1)>x</p>'])).length, 1, 'one among many is found')
  })

  test('an image is loaded from a host that the agent lists, and from no other', async () => {
    const markdown =
      '![a](https://ours.example/a.png) ![b](https://evil.example/b.png) ![c](https://ours.example.evil.example/c.png)'
    const { loaded } = await viewers[0]!.look(await renderHtml(markdown, ['ours.example']))
    assert.deepEqual([...new Set(loaded)], ['https://ours.example/a.png'])
  })
})
