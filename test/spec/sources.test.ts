// Documents that come from the web: { url } of /agents/{agentId}/documents, and /agents/{agentId}/sources
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, beforeEach, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { hasFields, isError, isOk, TIMESTAMP, UUID } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { storeOf } from '../support/store.ts'
import { WebSite } from '../support/web-site.ts'

const site = await new WebSite().start()
const service = await startService({
  REPARTEE_FETCH_ALLOW: site.host,
  REPARTEE_CRAWL_DELAY_MS: '0',
})
const { client } = service
after(async () => {
  await service.stop()
  await site.stop()
})
let agent: string
let documents: string
let sources: string
beforeEach(async () => {
  agent = `/agents/${await service.newAgent()}`
  documents = `${agent}/documents`
  sources = `${agent}/sources`
  site.pages.clear()
  site.asked.length = 0
})

const settledDocument = (id: string) =>
  until('the document is settled', async () => {
    const { document } = (await client.get(`${documents}/${id}`)).body
    return ['ready', 'failed'].includes(document.status) && document
  })
const addPage = async (url: string, more: object = {}) => {
  const answer = await client.post(documents, { url, ...more })
  isOk(answer, 202)
  return await settledDocument(answer.body.document.id)
}
/** The beginning of a page, and then the connection is reset. */
const breaksOff = ({ socket }: IncomingMessage) => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<title>A</title><p>The beginning.')
  setTimeout(() => socket.resetAndDestroy(), 50)
}
const settledSource = (id: string) =>
  until('the source is settled', async () => {
    const { source } = (await client.get(`${sources}/${id}`)).body
    return ['ready', 'failed'].includes(source.status) && source
  })
const addSource = async (body: object) => {
  const answer = await client.post(sources, body)
  isOk(answer, 202)
  return await settledSource(answer.body.source.id)
}
const refresh = async (id: string) => {
  isOk(await client.post(`${sources}/${id}/refresh`), 202)
  return await settledSource(id)
}
const listed = async () => {
  const { documents: found } = (await client.get(`${documents}?limit=100`)).body as {
    documents: { source: { url: string }; status: string }[]
  }
  return found.map(({ source }) => new URL(source.url).pathname).sort()
}
const ready = () =>
  until(
    'all documents are ready',
    async () =>
      (await client.get(`${documents}?status=ready`)).body.pagination.total ===
      (await client.get(documents)).body.pagination.total,
  )
const search = async (query: string) => {
  const { hits } = (await client.post(`${agent}/search`, { query })).body as { hits: { text: string; url: string }[] }
  return hits
}
const page = (title: string, text: string, ...links: string[]) =>
  `<title>${title}</title><main><h1>${title}</h1><p>${text}</p>${links.map((link) => `<a href="${link}">see</a>`).join(' ')}</main>`

describe('a page of the web as a document', { skip: needsProcess }, () => {
  test('is fetched, read and found; its source and its hits name the URL', async () => {
    site.pages.set('/kettle', page('The kettle', 'The kettle holds 1.7 litres.'))
    const document = await addPage(`${site.url('/kettle')}#top`)
    assert.equal(document.status, 'ready')
    assert.equal(document.title, 'The kettle')
    assert.equal(document.mediaType, 'text/html')
    assert.deepEqual(document.source, { type: 'url', url: site.url('/kettle') })
    assert.equal((await search('kettle litres'))[0]?.url, site.url('/kettle'))
    const { headers } = site.asked[0]!
    assert.equal(headers['user-agent'], 'Repartee')
    assert.ok(!JSON.stringify(headers).includes(client.key))
  })

  test('the same URL is the same document, fetched again; the old text answers until the new is read', async () => {
    site.pages.set('/a', page('A', 'The walnut is brown.'))
    const first = await addPage(site.url('/a'))
    site.pages.set('/a', page('A', 'The walnut is green.'))
    const second = await addPage(site.url('/a'))
    assert.equal(second.id, first.id)
    const hits = await search('walnut')
    assert.equal(hits.length, 1)
    assert.match(hits[0]!.text, /green/)
  })

  test('a page that is posted again during its fetch is fetched again: what it says by then is read', async () => {
    const first = Promise.withResolvers<ServerResponse>()
    site.pages.set('/late', (_, response) => first.resolve(response))
    const post = () => client.post(documents, { url: site.url('/late') })
    const answer = await post()
    isOk(answer, 202)
    const response = await first.promise
    site.pages.set('/late', '<p>The kettle weighs 800 grams.')
    isOk(await post(), 202)
    response.setHeader('content-type', 'text/html').end('<p>The kettle weighs 900 grams.')
    await until('it is read as it is now', async () => {
      const { document } = (await client.get(`${documents}/${answer.body.document.id}`)).body
      return document.status === 'ready' && /800/.test((await search('kettle'))[0]?.text ?? '')
    })
  })

  test('a page that did not change is not sent, nor read, again', async () => {
    site.pages.set('/a', { body: page('A', 'The walnut is brown.'), headers: { etag: '"1"' } })
    const first = await addPage(site.url('/a'))
    const second = await addPage(site.url('/a'))
    assert.equal(site.asked[1]!.headers['if-none-match'], '"1"')
    assert.equal(second.status, 'ready')
    assert.equal(second.id, first.id)
    assert.match((await search('walnut'))[0]!.text, /brown/)
  })

  test('a page that is sent again as it was is not read again: its passages stay what they are', async () => {
    site.pages.set('/a', page('A', 'The walnut is brown.'))
    const { id } = await addPage(site.url('/a'))
    const passages = async () => (await client.get(`${documents}/${id}/passages`)).body.passages
    const before = await passages()
    assert.equal((await addPage(site.url('/a'))).status, 'ready')
    assert.equal(site.count('/a'), 2)
    assert.deepEqual(await passages(), before)
  })

  test('an address that is too long as it is sent is refused at once', async () => {
    const url = site.url(`/${'中'.repeat(1_000)}`)
    isError(await client.post(documents, { url }), 400, 'invalid_request', 'body.url')
    isError(await client.post(sources, { type: 'url', url }), 400, 'invalid_request', 'body.url')
  })

  test('a page of long addresses has fewer documents, with short titles; the next pages bring the others', async () => {
    const urls = Array.from({ length: 50 }, (_, i) => site.url(`/${i}/${'x'.repeat(4_000)}`))
    for (const url of urls) isOk(await client.post(documents, { url }), 202)
    const found: string[] = []
    const pages: number[] = []
    for (let cursor = ''; ; ) {
      const { body } = await client.get(`${documents}?limit=100${cursor && `&cursor=${cursor}`}`)
      for (const { source, title } of body.documents) {
        found.push(source.url)
        assert.ok(title.length <= 300)
      }
      pages.push(body.documents.length)
      if (!body.pagination.hasMore) break
      cursor = body.pagination.nextCursor
    }
    assert.ok(pages.length > 1, String(pages))
    assert.deepEqual(found, urls.reverse())
  })

  test('a title that is given stays', async () => {
    site.pages.set('/a', page('Its own', 'The walnut is brown.'))
    assert.equal((await addPage(site.url('/a'), { title: 'Mine', metadata: { lang: 'en' } })).title, 'Mine')
    assert.deepEqual((await addPage(site.url('/a'))).metadata, { lang: 'en' })
  })

  test('PUT puts a page in the place of a document; one that is another document is 400', async () => {
    site.pages.set('/a', page('A', 'The walnut is brown.'))
    const { document } = (await client.post(documents, { text: 'The almond is white.' })).body
    await settledDocument(document.id)
    isOk(await client.put(`${documents}/${document.id}`, { url: site.url('/a') }), 202)
    assert.equal((await settledDocument(document.id)).status, 'ready')
    assert.equal((await search('almond')).length, 0)
    assert.match((await search('walnut'))[0]!.text, /brown/)
    const other = (await client.post(documents, { text: 'The hazel is red.' })).body.document
    isError(await client.put(`${documents}/${other.id}`, { url: site.url('/a') }), 400, 'invalid_request', 'body.url')
  })

  for (const [about, handler, code, reason] of [
    ['is not there', undefined, 'fetch_failed', /404/],
    ['is empty', '<p> </p>', 'blank', /no text/],
    ['holds nothing of use', { type: 'image/png', body: Buffer.from('89504e470d0a1a0a', 'hex') }, 'unsupported_type', /PNG/],
    [
      'redirects without end',
      (_q: unknown, r: { writeHead(s: number, h: object): { end(): void } }) => r.writeHead(302, { location: '/x' }).end(),
      'fetch_failed',
      /redirect/,
    ],
    [
      'redirects into the private network',
      (_q: unknown, r: { writeHead(s: number, h: object): { end(): void } }) =>
        r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'address_refused',
      /private/,
    ],
    [
      'breaks off',
      (_q: unknown, r: { writeHead(s: number, h: object): { write(t: string): void; destroy(): void } }) => {
        const x = r.writeHead(200, { 'content-length': '500' })
        x.write('half')
        setTimeout(() => x.destroy(), 20)
      },
      'unreachable',
      /broke/,
    ],
  ] as const) {
    test(`one that ${about} fails with the reason`, async () => {
      if (handler !== undefined) site.pages.set('/x', handler as never)
      const document = await addPage(site.url('/x'))
      assert.equal(document.status, 'failed')
      assert.equal(document.error.code, code)
      assert.match(document.error.message, reason)
    })
  }

  test('one that never answers fails with the reason', { skip: needsProcess }, async (t) => {
    site.pages.set('/x', () => {})
    await service.end('SIGTERM')
    await service.restart({ REPARTEE_FETCH_TIMEOUT_MS: '1500' })
    t.after(async () => {
      await service.end('SIGTERM')
      await service.restart({ REPARTEE_FETCH_TIMEOUT_MS: '300000' })
    })
    const { status, error } = await addPage(site.url('/x'))
    assert.deepEqual([status, error.code], ['failed', 'unreachable'])
    assert.match(error.message, /in time/)
  })

  for (const [about, filler] of [
    ['slow pages', ''],
    ['slow and large pages', 'a '.repeat(700_000)],
  ] as const)
    test(`${about} of many agents do not keep such a page of another agent waiting`, { skip: needsProcess }, async (t) => {
      const patient = await startService({ REPARTEE_FETCH_ALLOW: site.host, REPARTEE_FETCH_TIMEOUT_MS: '600000' })
      t.after(() => patient.stop())
      for (let i = 0; i < 6; i++)
        site.pages.set(`/slow${i}`, (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/html' }).write(`a ${filler}`)
          const dripping = setInterval(() => response.write('a '), 100)
          // Also one that is asked for while the service stops.
          response.once('close', () => clearInterval(dripping))
        })
      for (let n = 0; n < 4; n++) {
        const path = `/agents/${await patient.newAgent()}/documents`
        for (let i = 0; i < 6; i++) isOk(await patient.client.post(path, { url: site.url(`/slow${i}`) }), 202)
      }
      await until('all places are taken', () => site.asked.length >= 8)
      site.pages.set('/fast', `<p>The kettle is here. ${filler}</p>`)
      const path = `/agents/${await patient.newAgent()}/documents`
      const { document } = (await patient.client.post(path, { url: site.url('/fast') })).body
      await until('the fast page is ready', async () => {
        const read = await patient.client.get(`${path}/${document.id}`)
        return read.body.document.status === 'ready'
      })
    })

  test('a failure that may pass is tried again, three times at most', async () => {
    let calls = 0
    site.pages.set('/a', (_request, response) => {
      calls++
      if (calls < 3) response.writeHead(503).end()
      else response.writeHead(200, { 'content-type': 'text/html' }).end(page('A', 'The walnut is brown.'))
    })
    assert.equal((await addPage(site.url('/a'))).status, 'ready')
    assert.equal(calls, 3)
  })

  test('one that breaks off, and told no length, is not taken for whole', async () => {
    site.pages.set('/a', page('A', 'The walnut is brown.'))
    await addPage(site.url('/a'))
    site.pages.set('/a', breaksOff)
    const { status, error } = await addPage(site.url('/a'))
    assert.deepEqual([status, error.code], ['failed', 'unreachable'])
    assert.match((await search('walnut'))[0]!.text, /brown/)
  })

  test('a page that cannot be had any more goes on answering as it was', async () => {
    site.pages.set('/a', page('A', 'The walnut is brown.'))
    await addPage(site.url('/a'))
    site.pages.clear()
    assert.equal((await addPage(site.url('/a'))).status, 'failed')
    assert.match((await search('walnut'))[0]!.text, /brown/)
  })

  for (const url of [
    'file:///etc/passwd',
    'ftp://example.com/',
    'http://',
    'http:///x',
    'https:\\\\example.com',
    'http://user:secret@example.com/',
    'example.com',
    'http://exa mple.com',
  ])
    test(`400 for ${url}`, async () => {
      isError(await client.post(documents, { url }), 400, 'invalid_request', 'body.url')
    })

  for (const url of [
    'http://127.0.0.1:1/',
    'http://localhost:1/',
    'http://[::1]:1/',
    'http://[::ffff:7f00:1]:1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://169.254.169.254/',
    'http://10.0.0.1/',
    'http://0.0.0.0:1/',
  ])
    test(`${url} is refused`, async () => {
      const document = await addPage(url)
      assert.equal(document.error.code, 'address_refused')
    })
})

describe('a source', { skip: needsProcess }, () => {
  test('202 { success, source }, with every field; its documents carry its id', async () => {
    site.pages.set(
      '/docs/',
      page('Start', 'The walnut is brown.', 'next', '/docs/deep/', '/other', 'https://example.com/', 'picture.png', 'next#part'),
    )
    site.pages.set('/docs/next', page('Next', 'The almond is white.', '/docs/'))
    site.pages.set('/docs/deep/', page('Deep', 'The hazel is red.'))
    site.pages.set('/other', page('Other', 'Outside of the folder.'))
    const answer = await client.post(sources, { type: 'site', url: site.url('/docs/') })
    isOk(answer, 202)
    hasFields(
      answer.body.source,
      'id',
      'type',
      'url',
      'maxPages',
      'maxDepth',
      'refreshHours',
      'status',
      'error',
      'pages',
      'documents',
      'syncedAt',
      'nextSyncAt',
      'createdAt',
      'updatedAt',
    )
    assert.match(answer.body.source.id, UUID)
    const source = await settledSource(answer.body.source.id)
    assert.equal(source.status, 'ready')
    assert.match(source.syncedAt, TIMESTAMP)
    assert.equal(source.nextSyncAt, null)
    assert.deepEqual(source.pages, { found: 3, taken: 3, unchanged: 0, failed: 0 })
    assert.deepEqual(await listed(), ['/docs/', '/docs/deep/', '/docs/next'])
    await ready()
    const { documents: found } = (await client.get(documents)).body
    for (const document of found) assert.equal(document.sourceId, source.id)
    assert.match((await search('almond'))[0]!.text, /white/)
    assert.equal(site.count('/docs/picture.png'), 0)
  })

  test('obeys robots.txt, nofollow and noindex', async () => {
    site.pages.set('/robots.txt', { type: 'text/plain', body: 'User-agent: *\nDisallow: /secret' })
    site.pages.set('/moved', (_request, response) => void response.writeHead(301, { location: '/secret/b' }).end())
    site.pages.set('/secret/b', page('Secret', 'Hidden words.'))
    site.pages.set(
      '/',
      `${page('Start', 'Walnut.', '/secret/a', '/open', '/quiet', '/moved')}<a rel="nofollow" href="/unwanted">x</a>`,
    )
    site.pages.set('/secret/a', page('Secret', 'Hidden words.'))
    site.pages.set('/unwanted', page('Unwanted', 'Hidden words.'))
    site.pages.set('/open', page('Open', 'Almond.'))
    site.pages.set('/quiet', `<meta name="robots" content="noindex">${page('Quiet', 'Hidden words.')}`)
    assert.equal((await addSource({ type: 'site', url: site.url('/') })).status, 'ready')
    assert.deepEqual(await listed(), ['/', '/open'])
    assert.equal(site.count('/secret/a') + site.count('/unwanted'), 0)
  })

  test('a site that says no to all robots but for its first page gives that page alone', async () => {
    site.pages.set('/robots.txt', { type: 'text/plain', body: 'User-agent: *\nDisallow: /' })
    site.pages.set('/', page('Start', 'Walnut.', '/open'))
    site.pages.set('/open', page('Open', 'Almond.'))
    await addSource({ type: 'site', url: site.url('/') })
    assert.deepEqual(await listed(), ['/'])
  })

  test('stays within its depth and its number of pages', async () => {
    for (let i = 0; i < 12; i++) site.pages.set(`/p${i}`, page(`P${i}`, `Words ${i}.`, `/p${i + 1}`))
    await addSource({ type: 'site', url: site.url('/p0'), maxDepth: 2 })
    assert.deepEqual(await listed(), ['/p0', '/p1', '/p2'])
    const source = await addSource({ type: 'site', url: site.url('/p0'), maxDepth: 20, maxPages: 5 })
    assert.equal(source.pages.found, 5)
    assert.equal((await listed()).length, 5)
  })

  test('refresh reads what changed, keeps what did not, and removes what is gone', async () => {
    site.pages.set('/', { body: page('Start', 'Walnut.', '/a', '/b', '/c'), headers: { etag: '"s"' } })
    for (const name of ['a', 'b', 'c']) site.pages.set(`/${name}`, page(name, `The ${name} nut is brown.`))
    const source = await addSource({ type: 'site', url: site.url('/') })
    await ready()
    site.pages.set('/b', page('b', 'The b nut is green.'))
    site.pages.delete('/c')
    const again = await refresh(source.id)
    assert.deepEqual(again.pages, { found: 4, taken: 1, unchanged: 2, failed: 0 })
    assert.deepEqual(await listed(), ['/', '/a', '/b'])
    await ready()
    assert.match((await search('b nut green'))[0]!.text, /b nut is green/)
    // The first page was not sent again, and still leads on.
    site.pages.set('/', { body: page('Start', 'Walnut.', '/a'), headers: { etag: '"t"' } })
    await refresh(source.id)
    assert.deepEqual(await listed(), ['/', '/a'])
  })

  test('a page that moves is read at its new address, although that answers that nothing has changed', async () => {
    const nut = { body: page('a', 'The a nut is brown.'), headers: { etag: '"5f-aaa"' } }
    site.pages.set('/', page('Start', 'Walnut.', '/a'))
    site.pages.set('/a', nut)
    const source = await addSource({ type: 'site', url: site.url('/') })
    await ready()
    // Servers make the tag of a file of its size and time: it moves with the file.
    site.pages.set('/b', nut)
    site.pages.set('/a', (_request, response) => void response.writeHead(301, { location: '/b' }).end())
    assert.equal((await refresh(source.id)).pages.failed, 0)
    assert.deepEqual(await listed(), ['/', '/b'])
    await ready()
    assert.match((await search('a nut'))[0]!.text, /a nut is brown/)
  })

  test('a page that cannot be had for now keeps its document', async () => {
    site.pages.set('/', page('Start', 'Walnut.', '/a'))
    site.pages.set('/a', page('a', 'The a nut is brown.'))
    const source = await addSource({ type: 'site', url: site.url('/') })
    await ready()
    site.pages.set('/a', (_request, response) => void response.writeHead(403).end())
    assert.equal((await refresh(source.id)).pages.failed, 1)
    assert.match((await search('a nut'))[0]!.text, /a nut is brown/)
  })

  const answersWith = (head: number, headers: Record<string, string>) => (_request: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(head, headers).end()
  for (const [about, answer] of [
    ['leads out of the site for the moment', answersWith(302, { location: '/login' })],
    ['is empty', answersWith(200, { 'content-type': 'text/html' })],
    ['breaks off, and told no length', breaksOff],
  ] as const)
    test(`a page that ${about} keeps its document, and so do the pages it led to`, async () => {
      site.pages.set('/docs/', page('Start', 'Walnut.', '/docs/a'))
      site.pages.set('/docs/a', page('a', 'The a nut is brown.', '/docs/b'))
      site.pages.set('/docs/b', page('b', 'The b nut is green.'))
      site.pages.set('/login', page('Login', 'Who are you?'))
      const source = await addSource({ type: 'site', url: site.url('/docs/') })
      await ready()
      site.pages.set('/docs/a', answer)
      assert.equal((await refresh(source.id)).pages.failed, 1)
      assert.deepEqual(await listed(), ['/docs/', '/docs/a', '/docs/b'])
      assert.match((await search('a nut brown'))[0]!.text, /a nut is brown/)
    })

  test('a first page that leads out of the site for the moment fails its source, and says where it leads', async () => {
    site.pages.set('/docs/', page('Start', 'Walnut.', '/docs/a'))
    site.pages.set('/docs/a', page('a', 'The a nut is brown.'))
    const source = await addSource({ type: 'site', url: site.url('/docs/') })
    await ready()
    site.pages.set('/away', page('Away', 'We are back soon.'))
    site.pages.set('/docs/', answersWith(302, { location: '/away' }))
    const { status, error } = await refresh(source.id)
    assert.equal(status, 'failed')
    assert.match(error.message, /\/away/)
    assert.deepEqual(await listed(), ['/docs/', '/docs/a'])
  })

  test('a first page that has always led elsewhere for the moment is read', async () => {
    site.pages.set('/docs/', answersWith(302, { location: '/manual/2/' }))
    site.pages.set('/manual/2/', page('Manual', 'Walnut.', '/manual/2/a'))
    site.pages.set('/manual/2/a', page('a', 'The a nut is brown.'))
    const source = await addSource({ type: 'site', url: site.url('/docs/') })
    await ready()
    assert.equal((await refresh(source.id)).status, 'ready')
    assert.deepEqual(await listed(), ['/manual/2/', '/manual/2/a'])
  })

  test('a site of which less than half is found loses nothing yet', async () => {
    site.pages.set('/', page('Start', 'Walnut.', '/a', '/b'))
    for (const name of ['a', 'b']) site.pages.set(`/${name}`, page(name, `The ${name} nut is brown.`))
    const source = await addSource({ type: 'site', url: site.url('/') })
    await ready()
    site.pages.set('/', page('Away', 'We are back soon.'))
    assert.equal((await refresh(source.id)).status, 'ready')
    assert.deepEqual(await listed(), ['/', '/a', '/b'])
  })

  test('a link that leads out of the site for the moment, or to nothing, is no failure where there was no document', async () => {
    site.pages.set('/docs/', page('Start', 'Walnut.', '/docs/go', '/docs/nothing'))
    site.pages.set('/docs/go', answersWith(302, { location: '/elsewhere' }))
    site.pages.set('/docs/nothing', answersWith(200, { 'content-type': 'text/html' }))
    site.pages.set('/elsewhere', page('Elsewhere', 'Not of this site.'))
    const source = await addSource({ type: 'site', url: site.url('/docs/') })
    assert.equal(source.pages.failed, 0)
    assert.deepEqual(await listed(), ['/docs/', '/docs/nothing'])
  })

  test('what a page leads to is not gone because that page cannot be had for now', async () => {
    site.pages.set('/', page('Start', 'Walnut.', '/hub'))
    const hub = { body: page('Hub', 'Almond.', '/deep'), headers: { etag: '"h"' } }
    site.pages.set('/hub', hub)
    site.pages.set('/deep', page('Deep', 'The deep nut is brown.'))
    const source = await addSource({ type: 'site', url: site.url('/') })
    assert.deepEqual(await listed(), ['/', '/deep', '/hub'])
    site.pages.set('/hub', (_request, response) => void response.writeHead(403).end())
    await refresh(source.id)
    assert.deepEqual(await listed(), ['/', '/deep', '/hub'])
    site.pages.set('/hub', hub)
    const again = await refresh(source.id)
    assert.deepEqual([await listed(), again.pages.failed], [['/', '/deep', '/hub'], 0])
  })

  test('the pages of a sitemap that cannot be had for now are not gone', async () => {
    const map = (path: string) => `<urlset><url><loc>${site.url(path)}</loc></url></urlset>`
    site.pages.set('/sitemap.xml', {
      type: 'application/xml',
      body: `<sitemapindex>${['/one.xml', '/two.xml'].map((path) => `<sitemap><loc>${site.url(path)}</loc></sitemap>`).join('')}</sitemapindex>`,
    })
    site.pages.set('/one.xml', { type: 'application/xml', body: map('/a') })
    site.pages.set('/two.xml', { type: 'application/xml', body: map('/b') })
    for (const path of ['/a', '/b']) site.pages.set(path, page(path, `Words of ${path}.`))
    const source = await addSource({ type: 'sitemap', url: site.url('/sitemap.xml') })
    site.pages.set('/two.xml', (_request, response) => void response.writeHead(403).end())
    assert.equal((await refresh(source.id)).pages.failed, 1)
    assert.deepEqual(await listed(), ['/a', '/b'])
    for (const body of ['<html><p>Back soon.</p></html>', 'Back soon.', '', '<urlset><url><loc>', '<urlset></urlset>', '{}']) {
      site.pages.set('/two.xml', body)
      assert.deepEqual([(await refresh(source.id)).pages.failed, await listed()], [1, ['/a', '/b']], body)
    }
    site.pages.set('/two.xml', map('/a'))
    assert.deepEqual([(await refresh(source.id)).pages.failed, await listed()], [0, ['/a']])
  })

  test('a sitemap that is cut off adds pages and removes none', async () => {
    const map = (paths: string[]) => `<urlset>${paths.map((path) => `<url><loc>${site.url(path)}</loc></url>`).join('')}</urlset>`
    for (const path of ['/a', '/b', '/c']) site.pages.set(path, page(path, `Words of ${path}.`))
    site.pages.set('/sitemap.xml', map(['/a', '/b']))
    const source = await addSource({ type: 'sitemap', url: site.url('/sitemap.xml') })
    site.pages.set('/sitemap.xml', map(['/c', '/b']).slice(0, -20))
    assert.deepEqual([(await refresh(source.id)).status, await listed()], ['ready', ['/a', '/b', '/c']])
    site.pages.set('/sitemap.xml', map(['/c', '/b']))
    assert.deepEqual([(await refresh(source.id)).status, await listed()], ['ready', ['/b', '/c']])
  })

  test('a first page that cannot be had fails the source with the reason, and keeps what there is', async () => {
    site.pages.set('/', page('Start', 'The walnut is brown.'))
    const source = await addSource({ type: 'site', url: site.url('/') })
    await ready()
    site.pages.clear()
    const failed = await refresh(source.id)
    assert.equal(failed.status, 'failed')
    assert.equal(failed.error.code, 'fetch_failed')
    assert.match(failed.error.message, /404/)
    assert.match((await search('walnut'))[0]!.text, /brown/)
  })

  test('of a sitemap reads the pages that it names, through further sitemaps and packed ones', async () => {
    const map = (...paths: string[]) =>
      `<?xml version="1.0"?><urlset>${paths.map((path) => `<url><loc>${site.url(path)}</loc></url>`).join('')}</urlset>`
    site.pages.set('/sitemap.xml', {
      type: 'application/xml',
      body: `<sitemapindex><sitemap><loc>${site.url('/one.xml')}</loc></sitemap><sitemap><loc>${site.url('/two.xml.gz')}</loc></sitemap><sitemap><loc>${site.url('/missing.xml')}</loc></sitemap></sitemapindex>`,
    })
    site.pages.set('/one.xml', { type: 'application/xml', body: map('/a', '/b?x=1&amp;y=2') })
    site.pages.set('/two.xml.gz', { type: 'application/gzip', body: gzipSync(map('/c')) })
    for (const path of ['/a', '/b?x=1&y=2', '/c']) site.pages.set(path, page(path, `Words of ${path}.`, '/elsewhere'))
    const source = await addSource({ type: 'sitemap', url: site.url('/sitemap.xml') })
    assert.equal(source.status, 'ready')
    assert.deepEqual(await listed(), ['/a', '/b', '/c'])
  })

  test('that is no sitemap fails', async () => {
    site.pages.set('/sitemap.xml', page('No', 'A page'))
    const source = await addSource({ type: 'sitemap', url: site.url('/sitemap.xml') })
    assert.match(source.error.message, /no sitemap/)
  })

  test('of one page reads that page alone; a redirect leads to its own address', async () => {
    site.pages.set('/old', (_request, response) => void response.writeHead(301, { location: '/new' }).end())
    site.pages.set('/new', page('New', 'The walnut is brown.', '/other'))
    await addSource({ type: 'url', url: site.url('/old') })
    assert.deepEqual(await listed(), ['/new'])
  })

  test('is brought up to date by itself when it is due', async () => {
    site.pages.set('/', page('Start', 'Walnut.'))
    const source = await addSource({ type: 'url', url: site.url('/'), refreshHours: 0.25 })
    assert.equal(new Date(source.nextSyncAt).getTime() - new Date(source.syncedAt).getTime(), 900_000)
  })

  test('the same type and URL are the same source', async () => {
    site.pages.set('/', page('Start', 'Walnut.'))
    const first = await addSource({ type: 'url', url: site.url('/') })
    const second = await addSource({ type: 'url', url: site.url('/'), maxPages: 7 })
    assert.equal(second.id, first.id)
    assert.equal(second.maxPages, 7)
    const list = await client.get(sources)
    isOk(list)
    hasFields(list.body, 'success', 'sources', 'pagination')
    assert.equal(list.body.pagination.total, 1)
  })

  test('keeps the settings that a second request does not name, and takes those that it names', async () => {
    site.pages.set('/', page('Start', 'Walnut.'))
    const same = { type: 'site', url: site.url('/') }
    const settings = ({ maxPages, maxDepth, refreshHours }: Record<string, unknown>) => [maxPages, maxDepth, refreshHours]
    assert.deepEqual(settings(await addSource(same)), [100, 3, null])
    assert.deepEqual(settings(await addSource({ ...same, maxPages: 7, maxDepth: 1, refreshHours: 12 })), [7, 1, 12])
    assert.deepEqual(settings(await addSource(same)), [7, 1, 12])
    assert.deepEqual(settings(await addSource({ ...same, maxDepth: 0 })), [7, 0, 12])
    assert.deepEqual(settings(await addSource({ ...same, maxPages: null, maxDepth: null })), [7, 0, 12])
    const off = await addSource({ ...same, refreshHours: null })
    assert.deepEqual([...settings(off), off.nextSyncAt], [7, 0, null, null])
  })

  test('is deleted with its documents, and not with others', async () => {
    site.pages.set('/', page('Start', 'The walnut is brown.'))
    site.pages.set('/own', page('Own', 'The almond is white.'))
    await addPage(site.url('/own'))
    const source = await addSource({ type: 'url', url: site.url('/') })
    await ready()
    isOk(await client.delete(`${sources}/${source.id}`))
    assert.deepEqual(await listed(), ['/own'])
    assert.equal((await search('walnut')).length, 0)
    isError(await client.get(`${sources}/${source.id}`), 404, 'source_not_found')
    isError(await client.delete(`${sources}/${source.id}`), 404, 'source_not_found')
    isError(await client.post(`${sources}/${source.id}/refresh`), 404, 'source_not_found')
  })

  test('a page of two sources stays for the one when the other goes, or does not find it any more', async () => {
    site.pages.set('/', page('Start', 'The walnut is brown.', '/shared'))
    site.pages.set('/shared', page('Shared', 'The almond is white.'))
    const whole = await addSource({ type: 'site', url: site.url('/') })
    const alone = await addSource({ type: 'url', url: site.url('/shared') })
    await ready()
    isOk(await client.delete(`${sources}/${whole.id}`))
    assert.deepEqual(await listed(), ['/shared'])
    assert.equal((await search('almond')).length, 1)
    const second = await addSource({ type: 'site', url: site.url('/') })
    isOk(await client.delete(`${sources}/${alone.id}`))
    assert.deepEqual(await listed(), ['/', '/shared'])
    site.pages.set('/', page('Start', 'The walnut is brown.'))
    await refresh(second.id)
    assert.deepEqual(await listed(), ['/'])
  })

  for (const [body, path] of [
    [{ type: 'feed', url: 'https://example.com/' }, 'body.type'],
    [{ type: 'site' }, 'body.url'],
    [{ type: 'site', url: 'ftp://example.com/' }, 'body.url'],
    [{ type: 'site', url: 'https://example.com/', maxPages: 0 }, 'body.maxPages'],
    [{ type: 'site', url: 'https://example.com/', maxDepth: -1 }, 'body.maxDepth'],
    [{ type: 'site', url: 'https://example.com/', refreshHours: 0 }, 'body.refreshHours'],
    [{ type: 'site', url: 'https://example.com/', depth: 1 }, 'body.depth'],
  ] as const)
    test(`400 for ${JSON.stringify(body)}`, async () => {
      isError(await client.post(sources, body), 400, 'invalid_request', path)
    })

  test('is brought up to date when it is due, though a crash came before that was noted', async () => {
    site.pages.set('/', page('Start', 'Walnut.'))
    const { id } = await addSource({ type: 'url', url: site.url('/'), refreshHours: 1 })
    await service.kill()
    const store = storeOf(service)
    const agentId = agent.split('/').at(-1)!
    if (store.isPostgres) {
      await store.run(`UPDATE knowledge_manifest SET due_at = NULL, is_pending = 1 WHERE agent_id = '${agentId}'`)
      await store.run(`UPDATE knowledge_site SET due_at = 1 WHERE agent_id = '${agentId}'`)
    } else {
      const path = join(service.data, 'knowledge', agentId)
      rmSync(`${path}.due`, { force: true })
      writeFileSync(`${path}.pending`, '')
      const file = new DatabaseSync(`${path}.db`)
      file.exec('UPDATE site SET due_at = 1')
      file.close()
    }
    await service.restart()
    await until('it is read again', () => site.count('/') > 1)
    assert.equal((await settledSource(id)).status, 'ready')
  })

  test('that ends the service again and again is given up, with the reason', async () => {
    site.pages.set('/robots.txt', () => {})
    const { source } = (await client.post(sources, { type: 'url', url: site.url('/') })).body
    for (let times = 1; times <= 3; times++) {
      await until('it is under way', () => site.count('/robots.txt') === times)
      await service.kill()
      await service.restart()
    }
    const { status, error } = await settledSource(source.id)
    assert.deepEqual([status, error.code, site.count('/robots.txt')], ['failed', 'internal_error', 3])
    site.pages.delete('/robots.txt')
    site.pages.set('/', page('Start', 'Walnut.'))
    assert.equal((await refresh(source.id)).status, 'ready')
  })

  test('that was under way at every orderly end of the service is not given up', async () => {
    site.pages.set('/robots.txt', () => {})
    site.pages.set('/', page('Start', 'Walnut.'))
    const { source } = (await client.post(sources, { type: 'url', url: site.url('/') })).body
    for (let times = 1; times <= 4; times++) {
      await until('it is under way', () => site.count('/robots.txt') === times)
      if (times === 4) site.pages.delete('/robots.txt')
      await service.end('SIGTERM')
      await service.restart()
    }
    assert.equal((await settledSource(source.id)).status, 'ready')
  })

  test('sitemaps of other agents make room, and are read once each', async () => {
    const crowded = await startService({
      REPARTEE_FETCH_ALLOW: site.host,
      REPARTEE_CRAWL_DELAY_MS: '0',
      REPARTEE_SITE_TURN_MS: '0',
    })
    const { client } = crowded
    const parts = ['a', 'b', 'c', 'd']
    const names = Array.from({ length: 45 }, (_, i) => `${i}`)
    for (const part of parts) {
      const locs = names.map((name) => `<sitemap><loc>${site.url(`/${part}/${name}.xml`)}</loc></sitemap>`).join('')
      site.pages.set(`/${part}.xml`, { type: 'application/xml', body: `<sitemapindex>${locs}</sitemapindex>` })
      for (const name of names)
        site.pages.set(`/${part}/${name}.xml`, (_request, response) => {
          setTimeout(() => response.writeHead(200, { 'content-type': 'application/xml' }).end('<urlset></urlset>'), 100)
        })
    }
    site.pages.set('/short', '<p>Short</p>')
    const asked = (part: string) => names.filter((name) => site.count(`/${part}/${name}.xml`) > 0).length
    const agents = [await crowded.newAgent(), await crowded.newAgent()]
    for (const [i, part] of parts.entries())
      isOk(await client.post(`/agents/${agents[i % 2]}/sources`, { type: 'sitemap', url: site.url(`/${part}.xml`) }), 202)
    await until('all places are taken', () => parts.every((part) => asked(part) > 1))
    const other = `/agents/${await crowded.newAgent()}/sources`
    const { source } = (await client.post(other, { type: 'url', url: site.url('/short') })).body
    await until('there was room', async () => (await client.get(`${other}/${source.id}`)).body.source.status === 'ready')
    assert.ok(
      parts.every((part) => asked(part) < names.length),
      `before any of them was done: ${parts.map(asked)}`,
    )
    await until('the others go on', () => parts.every((part) => asked(part) === names.length))
    for (const part of parts) for (const name of names) assert.equal(site.count(`/${part}/${name}.xml`), 1)
    await crowded.stop()
  })

  test('long sites of other agents make room, and go on', async () => {
    const crowded = await startService({
      REPARTEE_FETCH_ALLOW: site.host,
      REPARTEE_CRAWL_DELAY_MS: '200',
      REPARTEE_SITE_TURN_MS: '0',
    })
    const { client } = crowded
    const names = Array.from({ length: 2_000 }, (_, i) => `${i}`)
    for (const part of ['a', 'b']) {
      for (const name of names) site.pages.set(`/${part}/${name}`, `<p>Page ${name} of ${part}</p>`)
      site.pages.set(`/${part}/`, names.map((name) => `<a href="${name}">${name}</a>`).join(' '))
    }
    site.pages.set('/short', '<p>Short</p>')
    const add = async (agent: string, body: object): Promise<string> => {
      const answer = await client.post(`/agents/${agent}/sources`, body)
      isOk(answer, 202)
      return `/agents/${agent}/sources/${answer.body.source.id}`
    }
    const long: string[] = []
    for (const agent of [await crowded.newAgent(), await crowded.newAgent()])
      for (const part of ['a', 'b']) long.push(await add(agent, { type: 'site', url: site.url(`/${part}/`), maxPages: 2_000 }))
    const pages = async () => {
      const all = await Promise.all(long.map((path) => client.get(path)))
      return all.map(({ body }) => body.source.pages.taken as number)
    }
    await until('all places are taken', async () => (await pages()).every((found) => found > 1))
    const short = await add(await crowded.newAgent(), { type: 'url', url: site.url('/short') })
    await until('there was room', async () => (await client.get(short)).body.source.status === 'ready')
    const before = await pages()
    await until('the others go on', async () => (await pages()).every((found, i) => found > before[i]!))
    await crowded.stop()
  })

  test('a crawl that a crash cut off goes on where it was', async () => {
    // Pages from the seventh on are answered to the next process alone.
    let isRestarted = false
    for (let i = 0; i < 30; i++)
      site.pages.set(`/k${i}`, (_request, response) => {
        if (i < 6 || isRestarted)
          response.writeHead(200, { 'content-type': 'text/html' }).end(page(`K${i}`, `Words ${i}.`, `/k${i + 1}`))
      })
    const { source } = (await client.post(sources, { type: 'site', url: site.url('/k0'), maxDepth: 20, maxPages: 20 })).body
    await until('some pages are read', () => site.count('/k6') > 0)
    await service.kill()
    isRestarted = true
    await service.restart()
    assert.equal((await settledSource(source.id)).status, 'ready')
    assert.equal((await listed()).length, 20)
    assert.ok(site.asked.length < 25, `${site.asked.length} requests`)
  })
})
