// The files that browsers are given: the console, the widget and the documentation.
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { basename } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { startService } from '../support/service.ts'

describe('files for browsers', async () => {
  const service = await startService()
  after(() => service.stop())
  const { origin } = new URL(service.client.address.baseUrl)

  interface Answer {
    status: number
    headers: Record<string, string | string[] | undefined>
    body: Buffer
  }
  /** As it stands: nothing is unpacked, followed or tidied up. */
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
    new Promise((resolve, reject) => {
      request(origin, { path, headers, method }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
        )
      })
        .on('error', reject)
        .end()
    })
  const codeOf = ({ body }: Answer) => JSON.parse(body.toString()).error.code

  test('pages come under a policy that lets nothing in from elsewhere, at every path below theirs', async () => {
    for (const path of ['/console/', '/console/agents/x/knowledge', '/docs/', '/docs/api/']) {
      const { status, headers, body } = await get(path)
      assert.equal(status, 200, path)
      assert.match(String(headers['content-security-policy']), /^default-src 'none'; script-src 'self'; style-src 'self';/)
      assert.doesNotMatch(String(headers['content-security-policy']), /unsafe|\*/)
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.match(body.toString(), /^<!doctype html>/i)
    }
  })

  test('are sent packed to those who unpack, and once: what has a hash in its name is kept for good', async () => {
    const { body } = await get('/console/')
    const [, script] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(body.toString())!
    const plain = await get(script!)
    const packed = await get(script!, { 'accept-encoding': 'gzip, br' })
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.deepEqual(gunzipSync(packed.body), plain.body)
    assert.equal(plain.headers.vary, 'Accept-Encoding')
    assert.match(String(plain.headers['cache-control']), /immutable/)
    const page = await get('/console/')
    assert.equal(page.headers['cache-control'], 'no-cache')
    assert.deepEqual([(await get('/console/', {}, 'HEAD')).body.length, (await get('/widget.js')).status], [0, 200])
  })

  test('the plain and the compressed form have an ETag each, and 304 answers each to its own', async () => {
    const forms: Record<string, string>[] = [{}, { 'accept-encoding': 'gzip' }]
    const [plain, compressed] = await Promise.all(forms.map((accepts) => get('/console/', accepts)))
    const etags = [plain!, compressed!].map(({ headers }) => String(headers.etag))
    assert.notEqual(etags[0], etags[1])
    for (const etag of etags) assert.match(etag, /^"[\w-]+"$/)
    for (const [i, accepts] of forms.entries()) {
      const asked = await Promise.all(
        [etags[0]!, etags[1]!, `"other", W/${etags[i]}`].map((etag) => get('/console/', { ...accepts, 'if-none-match': etag })),
      )
      assert.deepEqual(
        asked.map(({ status }) => status),
        [i === 0 ? 304 : 200, i === 1 ? 304 : 200, 304],
      )
      for (const { status, headers, body } of asked.filter((answer) => answer.status === 304))
        assert.deepEqual([status, headers.etag, headers.vary, body.length], [304, etags[i], 'Accept-Encoding', 0])
    }
  })

  test('the widget may be loaded by pages of any origin', async () => {
    const { headers } = await get('/widget.js')
    assert.equal(headers['access-control-allow-origin'], '*')
    assert.equal(headers['cross-origin-resource-policy'], 'cross-origin')
    assert.match(String(headers['content-type']), /^text\/javascript/)
  })

  test('what could not be read once is read the next time', async () => {
    const file = fileURLToPath(new URL(`../../static/docs/read-again-${process.pid}.txt`, import.meta.url))
    after(() => rmSync(file, { force: true }))
    writeFileSync(file, 'here')
    const other = await startService()
    try {
      const ask = async (name: string) => (await fetch(`${new URL(other.client.address.baseUrl).origin}/docs/${name}`)).status
      assert.equal(await ask('llms.txt'), 200, 'the names of files are known')
      rmSync(file)
      assert.equal(await ask(basename(file)), 500)
      writeFileSync(file, 'here again')
      assert.equal(await ask(basename(file)), 200)
    } finally {
      await other.stop()
    }
  })

  test('nothing else of the disk is to be had', async () => {
    for (const path of [
      ...['/console/assets/../../../package.json', '/console/assets/%2e%2e/%2e%2e/.built', '/docs/..%2f..%2fpackage.json'],
      ...[
        '/docs/%2e%2e/widget/widget.js',
        '/console/assets/none.js',
        '/console/index.html.gz%00.js',
        '/static/.built',
        '/widget.js/x',
      ],
    ]) {
      const answer = await get(path)
      assert.ok(answer.status === 404 || answer.body.toString().startsWith('<!doctype html>'), `${path}: ${answer.status}`)
      assert.ok(!answer.body.includes('"workspaces"'), path)
    }
    const posted = await get('/console/', {}, 'POST')
    assert.deepEqual([posted.status, codeOf(posted), posted.headers.allow], [405, 'method_not_allowed', 'GET, HEAD'])
  })

  test('the bare address leads a browser to the console, and tells a program that nothing is there', async () => {
    const shown = await get('/', { accept: 'text/html,application/xhtml+xml' })
    assert.deepEqual([shown.status, shown.headers.location], [302, '/console/'])
    const answer = await get('/', { accept: '*/*' })
    assert.deepEqual([answer.status, codeOf(answer)], [404, 'route_not_found'])
    assert.deepEqual((await get('/docs/api')).headers.location, '/docs/api/')
  })
})
