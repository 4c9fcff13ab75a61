// The knowledge base: /agents/{agentId}/documents, …/passages, and /agents/{agentId}/search
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import { hasFields, isError, isOk, TIMESTAMP, UUID } from '../support/assert.ts'
import { pdf } from '../support/pdf.ts'
import { until } from '../support/poll.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { client } = service
after(() => service.stop())
let agent: string
let documents: string
beforeEach(async () => {
  agent = `/agents/${await service.newAgent()}`
  documents = `${agent}/documents`
})

const FIELDS = [
  ...['id', 'title', 'source', 'mediaType', 'bytes', 'metadata', 'status', 'progress', 'error', 'passageCount'],
  ...['createdAt', 'updatedAt'],
]
const KETTLE = '# The Aurora kettle\n\nThe kettle holds 1.7 litres.\n\n## Warranty\n\nThe warranty lasts two years.\n'
/** Metadata of so many bytes as JSON. */
const metadataOf = (bytes: number) => {
  const notes = Array.from({ length: 17 }, () => 'x'.repeat(920))
  return { notes, rest: 'x'.repeat(bytes - JSON.stringify({ notes, rest: '' }).length) }
}

/** Resolves when the document is ready, or failed. */
const settled = (id: string) =>
  until('the document is indexed', async () => {
    const { document } = (await client.get(`${documents}/${id}`)).body
    return ['ready', 'failed'].includes(document.status) && document
  })
async function add(body: object) {
  const answer = await client.post(documents, body)
  isOk(answer, 202)
  return await settled(answer.body.document.id)
}
const search = async (query: string, more: object = {}) => {
  const answer = await client.post(`${agent}/search`, { query, ...more })
  isOk(answer)
  return answer.body.hits as { documentId: string; text: string; title: string }[]
}
const upload = (...parts: [head: string, content: string][]) => {
  const body = parts.map(([head, content]) => `--limit\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`).join('')
  return client.request('POST', documents, {
    bytes: `${body}--limit--\r\n`,
    headers: { 'content-type': 'multipart/form-data; boundary=limit' },
  })
}

describe('adding a document', () => {
  test('202 { success, document }; it is indexed in the background', async () => {
    const answer = await client.post(documents, {
      title: 'Kettle',
      markdown: KETTLE,
      metadata: { lang: 'en', tags: ['a', 'b'], year: 2026 },
    })
    isOk(answer, 202)
    hasFields(answer.body, 'success', 'document')
    const { document } = answer.body
    hasFields(document, ...FIELDS)
    assert.match(document.id, UUID)
    assert.match(document.status, /^(queued|processing|ready)$/)
    const ready = await settled(document.id)
    hasFields(ready, ...FIELDS)
    assert.deepEqual([ready.status, ready.progress, ready.error, ready.title], ['ready', 1, null, 'Kettle'])
    assert.deepEqual(ready.metadata, { lang: 'en', tags: ['a', 'b'], year: 2026 })
    assert.equal(ready.bytes, Buffer.byteLength(KETTLE))
    assert.ok(ready.passageCount >= 1)
    assert.match(ready.createdAt, TIMESTAMP)
    assert.ok(ready.updatedAt >= ready.createdAt)
  })

  test('a large text is kept as it was sent, and sent again under its key it is the same request', async () => {
    // Characters of four bytes lie across every boundary of two.
    for (const before of ['', 'x']) {
      const text = `${before}${'😀'.repeat(2_200_000)}${'walnut '.repeat(10)}`
      const headers = { 'Idempotency-Key': randomUUID() }
      const [first, again] = [
        await client.post(documents, { text }, { headers }),
        await client.post(documents, { text }, { headers }),
      ]
      isOk(first, 202)
      assert.equal(first.body.document.bytes, Buffer.byteLength(text))
      assert.deepEqual(again.body, first.body)
      isError(await client.post(documents, { text: `${text}.` }, { headers }), 422, 'idempotency_mismatch')
      isOk(await client.delete(`${documents}/${first.body.document.id}`))
    }
  })

  test('text, markdown and html are read as what they are', async () => {
    const text = await add({ text: 'A plain *text*.' })
    const markdown = await add({ markdown: KETTLE })
    const html = await add({ html: '<title>Lamps</title><p>A lamp &amp; a <b>shade</b>.</p><script>no()</script>' })
    assert.deepEqual([text.mediaType, markdown.mediaType, html.mediaType], ['text/plain', 'text/markdown', 'text/html'])
    assert.equal(markdown.title, 'The Aurora kettle')
    assert.equal(html.title, 'Lamps')
    const [hit] = await search('lamp shade')
    assert.match(hit!.text, /A lamp & a \**shade\**\./)
    assert.ok(!(await search('no')).some(({ text }) => text.includes('no()')))
  })

  test('a multipart file, with its name as the title, or the title that is given beside it', async () => {
    const named = await upload([
      'name="file"; filename="notes on tea.txt"\r\nContent-Type: text/plain',
      'Green tea is steeped at 80 degrees.',
    ])
    isOk(named, 202)
    const first = await settled(named.body.document.id)
    assert.deepEqual(first.source, { type: 'file', filename: 'notes on tea.txt' })
    assert.equal(first.status, 'ready')
    assert.equal((await search('green tea'))[0]!.title, 'notes on tea.txt')
    const titled = await upload(
      ['name="title"', 'Tea'],
      ['name="metadata"', '{"lang":"en"}'],
      ['name="file"; filename="tea.md"', '# Black tea\n\nBlack tea is steeped for four minutes.'],
    )
    const second = await settled(titled.body.document.id)
    assert.deepEqual([second.title, second.metadata, second.mediaType], ['Tea', { lang: 'en' }, 'text/markdown'])
  })

  test('a file is uploaded, and replaces a document, at addresses of their own, which take nothing else', async () => {
    const form = (text: string) => {
      const body = new FormData()
      body.append('file', new Blob([text]), 'tea.txt')
      return body
    }
    const send = async (method: string, path: string, body: FormData) => {
      const answer = await fetch(client.address.baseUrl + path, { method, body, headers: { 'x-api-key': client.key } })
      return { status: answer.status, body: (await answer.json()) as { success: boolean; document: { id: string } } }
    }
    const added = await send('POST', `${documents}/upload`, form('White tea is steeped at 75 degrees.'))
    assert.deepEqual([added.status, added.body.success], [202, true])
    hasFields(added.body.document, ...FIELDS)
    const { id } = added.body.document
    assert.deepEqual((await settled(id)).source, { type: 'file', filename: 'tea.txt' })
    const replaced = await send('PUT', `${documents}/${id}/upload`, form('Yellow tea is steeped at 70 degrees.'))
    assert.deepEqual([replaced.status, replaced.body.document.id], [202, id])
    await until('the new content is found', async () => (await search('yellow tea'))[0]?.text.includes('70 degrees'))
    for (const [method, path] of [
      ['POST', `${documents}/upload`],
      ['PUT', `${documents}/${id}/upload`],
    ] as const) {
      for (const options of [{ body: { text: 'x' } }, { bytes: 'x', headers: { 'content-type': 'text/plain' } }, {}]) {
        const refused = await client.request(method, path, options)
        isError(refused, 415, 'unsupported_media_type')
        assert.equal(refused.body.error.message, 'The body must be sent with Content-Type: multipart/form-data.')
      }
    }
    isError(await client.request('PUT', `${documents}/${randomUUID()}/upload`, {}), 415, 'unsupported_media_type')
    assert.equal((await send('PUT', `${documents}/${randomUUID()}/upload`, form('x'))).status, 404)
  })

  test('415 names both media types where both are taken', async () => {
    const { id } = await add({ title: 'Kettle', markdown: KETTLE })
    for (const [method, path] of [
      ['POST', documents],
      ['PUT', `${documents}/${id}`],
    ] as const) {
      for (const type of ['text/plain', 'multipart/form-data', 'application/json; charset=latin1']) {
        const refused = await client.request(method, path, { bytes: 'x', headers: { 'content-type': type } })
        isError(refused, 415, 'unsupported_media_type')
        assert.match(refused.body.error.message, /application\/json.*multipart\/form-data/)
      }
    }
  })

  test('the same title and bytes are the same document, not a copy; another title or other bytes are another', async () => {
    const first = await add({ title: 'Kettle', markdown: KETTLE })
    const again = await client.post(documents, { title: 'Kettle', markdown: KETTLE })
    isOk(again, 202)
    assert.equal(again.body.document.id, first.id)
    assert.notEqual((await add({ title: 'Other', markdown: KETTLE })).id, first.id)
    assert.notEqual((await add({ title: 'Kettle', markdown: `${KETTLE}!` })).id, first.id)
    assert.equal((await client.get(documents)).body.pagination.total, 3)
  })

  test('a document may be larger than other bodies', async () => {
    const text = 'All work and no play makes Jack a dull boy.\n\n'.repeat(24_000)
    const answer = await client.post(documents, { title: 'Long', text })
    isOk(answer, 202)
    assert.equal(answer.body.document.bytes, text.length)
  })

  for (const [about, body, path] of [
    ['nothing to read', {}, 'body'],
    ['two texts', { text: 'x', markdown: 'x' }, 'body'],
    ['an empty text', { text: '' }, 'body.text'],
    ['a blank text', { markdown: ' \n\t ' }, 'body.markdown'],
    ['a title of 1,001 characters', { title: 'x'.repeat(1_001), text: 'x' }, 'body.title'],
    ['a blank title', { title: ' ', text: 'x' }, 'body.title'],
    ['a name of metadata that is empty', { text: 'x', metadata: { '': 1 } }, 'body.metadata.'],
    [
      'a name of metadata of 101 characters',
      { text: 'x', metadata: { ['x'.repeat(101)]: 1 } },
      `body.metadata.${'x'.repeat(100)}`,
    ],
    ['metadata that is nested, by a name of two lines', { text: 'x', metadata: { 'a\nb': { c: 1 } } }, 'body.metadata.a\nb'],
    ['a name of metadata that objects have', { text: 'x', metadata: JSON.parse('{"__proto__":1}') }, 'body.metadata.__proto__'],
    ['metadata that is nested', { text: 'x', metadata: { a: { b: 1 } } }, 'body.metadata.a'],
    ['metadata of 16,385 bytes', { text: 'x', metadata: metadataOf(16_385) }, 'body.metadata'],
    ['a text with U+0000', { text: 'a\0b' }, 'body.text'],
    ['an unknown field', { txt: 'x' }, 'body.txt'],
  ] as const) {
    test(`400 invalid_request for ${about}, and nothing is kept`, async () => {
      isError(await client.post(documents, body), 400, 'invalid_request', path)
      assert.equal((await client.get(documents)).body.pagination.total, 0)
    })
  }

  for (const [about, parts] of [
    ['no part file', [['name="title"', 'x']]],
    [
      'two files',
      [
        ['name="file"; filename="a.txt"', 'x'],
        ['name="file"; filename="b.txt"', 'x'],
      ],
    ],
    [
      'a part that is not known',
      [
        ['name="file"; filename="a.txt"', 'x'],
        ['name="titel"', 'x'],
      ],
    ],
    [
      'a part without a name',
      [
        ['name="file"; filename="a.txt"', 'x'],
        ['x=y', 'x'],
      ],
    ],
    ['a file without a name of its part', [['filename="a.txt"', 'x']]],
    ['an empty file', [['name="file"; filename="a.txt"', '']]],
    [
      'metadata that is no JSON',
      [
        ['name="file"; filename="a.txt"', 'x'],
        ['name="metadata"', '{'],
      ],
    ],
  ] as [string, [string, string][]][]) {
    test(`400 invalid_request for an upload with ${about}`, async () => {
      isError(await upload(...parts), 400, 'invalid_request')
    })
  }

  test('metadata and filters are up to 16,384 bytes as JSON', async () => {
    const [largest, tooLarge] = [metadataOf(16_384), metadataOf(16_385)]
    const { id } = await add({ text: 'The kettle is red.', metadata: largest })
    isOk(await client.patch(`${documents}/${id}`, { metadata: largest }))
    isError(await client.patch(`${documents}/${id}`, { metadata: tooLarge }), 400, 'invalid_request', 'body.metadata')
    const parts: [string, string][] = [
      ['name="file"; filename="a.txt"', 'x'],
      ['name="metadata"', JSON.stringify(tooLarge)],
    ]
    isError(await upload(...parts), 400, 'invalid_request', 'body.metadata')
    const searchBy = (filter: object) => client.post(`${agent}/search`, { query: 'kettle', filter })
    isOk(await searchBy(largest))
    isError(await searchBy(tooLarge), 400, 'invalid_request', 'body.filter')
    const change = (filter: object) => client.patch(agent, { retrieval: { filter } })
    isOk(await change(largest))
    const refused = await change(tooLarge)
    isError(refused, 400, 'invalid_request', 'body.retrieval.filter')
    assert.match(refused.body.error.message, /must have at most 16384 bytes as JSON/)
  })

  test('too many parts are refused before they are parsed, whatever is between their delimiters', async () => {
    const head = '--limit\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nwalnut'
    for (const more of ['\r\n--limit', '\r\n--limitX', '\r\n--limit\r\n\r\n', '\r\n--limit\r\nX\r\n\r\n']) {
      const bytes = Buffer.from(head + more.repeat(10_000))
      // The last two name another boundary to those who read them less strictly.
      for (const named of ['boundary="limit"', 'x="boundary=other"; boundary=limit', 'boundary=limit; boundary=other']) {
        const headers = { 'content-type': `multipart/form-data; ${named}` }
        const answer = await client.post(documents, undefined, { bytes, headers })
        isError(answer, 400, 'invalid_request')
        assert.match(answer.body.error.message, /too many parts/)
      }
    }
  })

  test('of a part, a few kilobytes of its head are looked at', async () => {
    const upload = (parameters: string) =>
      client.post(documents, undefined, {
        bytes: Buffer.from(
          `--b\r\nContent-Disposition: form-data${parameters}; name="file"; filename="a.txt"\r\n\r\nwalnut\r\n--b--\r\n`,
        ),
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      })
    isOk(await upload('; a=b'.repeat(500)), 202)
    isError(await upload('; a=b'.repeat(5_000)), 400, 'invalid_request')
  })

  test('a boundary that two parsers could read differently is refused', async () => {
    for (const named of ['boundary="lim\\"it"', "boundary*=utf-8''limit", `boundary=${'x'.repeat(71)}`, 'xboundary=limit']) {
      const headers = { 'content-type': `multipart/form-data; ${named}` }
      const answer = await client.post(documents, undefined, { bytes: Buffer.from('--limit--'), headers })
      isError(answer, 400, 'invalid_request')
      assert.match(answer.body.error.message, /must name a boundary/)
    }
  })

  test('a name of metadata is any other text', async () => {
    const metadata = { 'a\nb': 1, ['😀'.repeat(100)]: 'x', constructor: true, ' ': ['y'] }
    assert.deepEqual((await add({ text: 'x', metadata })).metadata, metadata)
  })

  test('metadata of an upload holds no text that cannot be kept', async () => {
    for (const [metadata, path] of [
      ['{"a":"x\\u0000"}', 'body.metadata.a'],
      ['{"a":["\\ud800"]}', 'body.metadata.a[0]'],
      ['{"\\u0000":1}', 'body.metadata'],
    ] as const) {
      const answer = await upload(['name="file"; filename="a.txt"', 'x'], ['name="metadata"', metadata])
      isError(answer, 400, 'invalid_request', path)
    }
  })

  test('a name of a part that is not known is told as far as anybody reads it', async () => {
    const answer = await upload([`name="${'x'.repeat(50_000)}"`, 'x'])
    isError(answer, 400, 'invalid_request', `body.${'x'.repeat(100)}`)
    assert.ok(answer.text.length < 1_000)
  })

  test('a long name of a file is cut between two characters', async () => {
    const answer = await upload([`name="file"; filename="${'x'.repeat(254)}😀.txt"`, 'x'])
    isOk(answer, 202)
    assert.equal(answer.body.document.title, `${'x'.repeat(254)}😀`)
  })

  test('a file keeps the folders before its name, and is the same document when it is sent from another folder', async () => {
    const send = async (filename: string) =>
      (await upload([`name="file"; filename="${filename}"`, 'Pears are sweet.'])).body.document
    const { id, title, source } = await send('fruit/./pears/../index.txt')
    assert.deepEqual([title, source], ['index.txt', { type: 'file', filename: 'fruit/pears/index.txt' }])
    const moved = await send('basket\\\\index.txt')
    assert.deepEqual([moved.id, moved.source.filename], [id, 'basket/index.txt'])
    assert.equal((await settled(id)).source.filename, 'basket/index.txt')
  })

  test('of the absolute path of a file only its name is kept', async () => {
    for (const filename of ['/home/ann/plums.txt', 'C:\\\\Users\\\\ann\\\\plums.txt', `${'deep/'.repeat(300)}plums.txt`]) {
      const { source } = (await upload([`name="file"; filename="${filename}"`, 'Plums are blue.'])).body.document
      assert.equal(source.filename, 'plums.txt')
    }
  })

  test('metadata of an upload that is no JSON is named', async () => {
    const answer = await upload(['name="file"; filename="a.txt"', 'x'], ['name="metadata"', 'lang:en'])
    isError(answer, 400, 'invalid_request', 'body.metadata')
  })

  test('a file that cannot be read ends as failed, and says why', async () => {
    const answer = await upload(['name="file"; filename="photo.png"\r\nContent-Type: image/png', '\x89PNG\r\n\x1a\n\x00\x00'])
    isOk(answer, 202)
    const { status, error, passageCount } = await settled(answer.body.document.id)
    assert.equal(status, 'failed')
    hasFields(error, 'code', 'message')
    assert.equal(passageCount, 0)
  })
})

describe('listing and reading documents', () => {
  test('the list tells of each document what it tells of it alone', async () => {
    const metadata = { 'na"me': 'a "quoted" <b>\u2028</b>', tags: ['x', 'é'], year: 2026, isOld: false, none: [] }
    const document = await add({ title: 'The "kettle"', text: 'It boils.', metadata })
    const { body, headers } = await client.get(documents)
    assert.deepEqual(body.documents, [document])
    assert.deepEqual(body.documents[0].metadata, metadata)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  })

  test('the list: newest first, paged as message history, by status', async () => {
    const made = [(await add({ text: 'one' })).id, (await add({ text: 'two' })).id, (await add({ text: 'three' })).id].reverse()
    const first = await client.get(`${documents}?limit=2`)
    isOk(first)
    hasFields(first.body, 'success', 'documents', 'pagination')
    for (const document of first.body.documents) hasFields(document, ...FIELDS)
    assert.deepEqual(first.body.pagination, { hasMore: true, nextCursor: made[1], total: 3 })
    const second = await client.get(`${documents}?limit=2&cursor=${made[1]}`)
    assert.deepEqual(
      [...first.body.documents, ...second.body.documents].map(({ id }: { id: string }) => id),
      made,
    )
    assert.equal((await client.get(`${documents}?status=ready`)).body.pagination.total, 3)
    assert.deepEqual((await client.get(`${documents}?status=failed`)).body.documents, [])
    isError(await client.get(`${documents}?status=done`), 400, 'invalid_request', 'query.status')
    isError(await client.get(`${documents}?cursor=${randomUUID()}`), 400, 'invalid_cursor', 'query.cursor')
  })

  test('the passages in order are the document as the service read it', async () => {
    const sections = Array.from(
      { length: 30 },
      (_, i) => `## Section ${i}\n\n${`Sentence ${i} says something. `.repeat(30).trim()}`,
    )
    const { id, passageCount } = await add({ markdown: `# Book\n\n${sections.join('\n\n')}` })
    const read: { id: string; index: number; text: string; heading: string }[] = []
    let cursor: string | null = null
    do {
      const answer = await client.get(`${documents}/${id}/passages?limit=7${cursor === null ? '' : `&cursor=${cursor}`}`)
      isOk(answer)
      hasFields(answer.body, 'success', 'passages', 'pagination')
      assert.equal(answer.body.pagination.total, passageCount)
      read.push(...answer.body.passages)
      cursor = answer.body.pagination.nextCursor
    } while (cursor !== null)
    assert.equal(read.length, passageCount)
    assert.ok(passageCount > 7)
    for (const passage of read) hasFields(passage, 'id', 'index', 'text', 'heading', 'page')
    assert.deepEqual(
      read.map(({ index }) => index),
      read.map((_, i) => i),
    )
    const words = (text: string) => text.match(/\w+/g)
    assert.deepEqual(words(read.map(({ text }) => text).join('\n')), words(`Book ${sections.join('\n')}`))
    assert.ok(read.some(({ heading }) => heading.includes('Section 29')))
  })

  test('404 document_not_found for one that does not exist, or that is another agent’s', async () => {
    const { id } = await add({ text: 'x' })
    const other = `/agents/${await service.newAgent()}/documents/${id}`
    for (const path of [other, `${documents}/${randomUUID()}`]) {
      for (const answer of [
        await client.get(path),
        await client.get(`${path}/passages`),
        await client.patch(path, { title: 'x' }),
        await client.put(path, { text: 'x' }),
        await client.delete(path),
      ]) {
        isError(answer, 404, 'document_not_found')
      }
    }
    assert.equal((await client.get(`${documents}/${id}`)).body.document.title, (await settled(id)).title)
  })
})

describe('changing and removing documents', () => {
  test('PUT replaces: the same id, and in the end the new content answers and the old does not', async () => {
    const { id } = await add({ title: 'Kettle', markdown: KETTLE })
    const answer = await client.put(`${documents}/${id}`, { title: 'Teapot', text: 'The teapot is blue porcelain.' })
    isOk(answer, 202)
    assert.equal(answer.body.document.id, id)
    await until('the new content answers', async () => {
      const [hit] = await search('warranty porcelain')
      assert.ok(hit, 'the old content answers until the new is ready')
      return hit.text.includes('porcelain')
    })
    assert.deepEqual(await search('warranty litres'), [])
    const { title, status } = await settled(id)
    assert.deepEqual([title, status], ['Teapot', 'ready'])
  })

  test('PATCH changes title or metadata, and nothing else', async () => {
    const before = await add({ title: 'Kettle', markdown: KETTLE, metadata: { lang: 'en' } })
    isOk(await client.patch(`${documents}/${before.id}`, { title: 'Boiler' }))
    isOk(await client.patch(`${documents}/${before.id}`, { metadata: { lang: 'de' } }))
    const { updatedAt, ...after } = await settled(before.id)
    const { updatedAt: then, ...rest } = before
    assert.deepEqual(after, { ...rest, title: 'Boiler', metadata: { lang: 'de' } })
    await until('the title is found', async () => (await search('warranty'))[0]?.title === 'Boiler')
    isError(await client.patch(`${documents}/${before.id}`, { text: 'x' }), 400, 'invalid_request', 'body.text')
  })

  test('DELETE: gone from retrieval at once; a second time it is 404', async () => {
    const { id } = await add({ markdown: KETTLE })
    const kept = await add({ text: 'The warranty of the lamp is one year.' })
    assert.equal((await search('warranty')).length, 2)
    const answer = await client.delete(`${documents}/${id}`)
    isOk(answer)
    hasFields(answer.body, 'success', 'message')
    assert.deepEqual(
      (await search('warranty')).map(({ documentId }) => documentId),
      [kept.id],
    )
    isError(await client.delete(`${documents}/${id}`), 404, 'document_not_found')
    assert.equal((await client.get(agent)).body.agent.stats.documents, 1)
  })
})

describe('search', () => {
  test('{ success, hits: [{ documentId, passageId, title, heading, text, score, url }] }, best first', async () => {
    const kettle = await add({ title: 'Kettle', markdown: KETTLE })
    await add({ text: 'Lamps come with a bulb.' })
    const answer = await client.post(`${agent}/search`, { query: 'How long does the warranty last?' })
    isOk(answer)
    hasFields(answer.body, 'success', 'hits')
    const { hits } = answer.body
    for (const hit of hits) hasFields(hit, 'documentId', 'passageId', 'title', 'heading', 'text', 'score', 'url')
    assert.equal(hits[0].documentId, kettle.id)
    assert.equal(hits[0].title, 'Kettle')
    const scores = hits.map(({ score }: { score: number }) => score)
    assert.deepEqual(
      scores,
      scores.toSorted((a: number, b: number) => b - a),
    )
    const { passages } = (await client.get(`${documents}/${kettle.id}/passages`)).body
    const found = passages.find(({ id }: { id: string }) => id === hits[0].passageId)
    assert.equal(found.text, hits[0].text)
  })

  test('asked for its trace, it says how sure it is, what it searched for, and the scores by method', async () => {
    await add({ title: 'Kettle', markdown: KETTLE })
    const traced = async (query: string) => {
      const answer = await client.post(`${agent}/search`, { query, include: ['trace'] })
      isOk(answer)
      hasFields(answer.body, 'success', 'hits', 'trace')
      for (const hit of answer.body.hits) hasFields(hit, 'documentId', 'passageId', 'title', 'heading', 'text', 'score', 'url')
      return answer.body
    }
    const { hits, trace } = await traced('How long does the warranty last?')
    hasFields(trace, 'grounding', 'query', 'passages')
    assert.ok(trace.grounding.confidence > 0.5)
    assert.match(trace.query, /warrant/)
    const idAndScore = ({ passageId, score }: { passageId: string; score: number }) => [passageId, score]
    assert.deepEqual(trace.passages.map(idAndScore), hits.map(idAndScore))
    for (const { scores } of trace.passages) assert.ok(Object.values(scores).every(Number.isFinite) && 'terms' in scores)
    const unknown = await traced('Who was the second emperor of Rome?')
    assert.ok(unknown.trace.grounding.confidence < 0.5)
    isError(
      await client.post(`${agent}/search`, { query: 'x', include: ['scores'] }),
      ...([400, 'invalid_request', 'body.include[0]'] as const),
    )
  })

  test('an empty knowledge base, and a question that nothing answers, have no hits', async () => {
    assert.deepEqual(await search('anything'), [])
    await add({ markdown: KETTLE })
    assert.deepEqual(await search('zyzzyva'), [])
  })

  test('topK: default 10, 1 to 100', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, i) => add({ title: `Lamp ${i}`, text: `Lamp number ${i} is bright.` })))
    assert.equal((await search('bright lamp')).length, 10)
    assert.equal((await search('bright lamp', { topK: 1 })).length, 1)
    assert.equal((await search('bright lamp', { topK: 100 })).length, 12)
    for (const topK of [0, 101, 1.5, '5']) {
      isError(await client.post(`${agent}/search`, { query: 'x', topK }), 400, 'invalid_request', 'body.topK')
    }
  })

  test('filter: { key: value or [values] }', async () => {
    await add({ title: 'en', text: 'The lamp is bright.', metadata: { lang: 'en', tags: ['new', 'sale'] } })
    await add({ title: 'de', text: 'Die Lampe: the lamp.', metadata: { lang: 'de' } })
    await add({ title: 'none', text: 'A lamp without a language.' })
    const titles = async (filter: object) => (await search('lamp', { filter })).map(({ title }) => title).sort()
    assert.deepEqual(await titles({ lang: 'en' }), ['en'])
    assert.deepEqual(await titles({ lang: ['en', 'de'] }), ['de', 'en'])
    assert.deepEqual(await titles({ lang: 'de', tags: 'sale' }), [])
    assert.deepEqual(await titles({ tags: 'sale' }), ['en'])
    assert.deepEqual(await titles({}), ['de', 'en', 'none'])
  })

  test('history helps a question that does not stand alone', async () => {
    await add({ title: 'Kettle', text: 'The Aurora kettle weighs 900 grams.' })
    await add({ title: 'Lamp', text: 'The Borealis lamp weighs 300 grams.' })
    const about = (content: string) => ({ history: [{ role: 'USER', content }] })
    assert.equal((await search('How much does it weigh?', about('Tell me about the Aurora kettle')))[0]!.title, 'Kettle')
    assert.equal((await search('How much does it weigh?', about('Tell me about the Borealis lamp')))[0]!.title, 'Lamp')
  })

  test('the agents’ own: what one knows the other does not', async () => {
    await add({ markdown: KETTLE })
    const other = `/agents/${await service.newAgent()}/search`
    assert.deepEqual((await client.post(other, { query: 'warranty' })).body.hits, [])
  })

  for (const [about, body, path] of [
    ['no query', {}, 'body.query'],
    ['a blank query', { query: ' ' }, 'body.query'],
    ['an unknown role in the history', { query: 'x', history: [{ role: 'user', content: 'x' }] }, 'body.history[0].role'],
    ['an unknown field', { query: 'x', k: 3 }, 'body.k'],
  ] as const) {
    test(`400 invalid_request for ${about}`, async () => {
      isError(await client.post(`${agent}/search`, body), 400, 'invalid_request', path)
    })
  }
})

describe('files of other formats', () => {
  test('a PDF is read with its pages, and a reply names the page that it cites', async () => {
    const filler = (y: number) =>
      Array.from({ length: 8 }, (_, i) => ({ text: 'Lanterns are checked every morning before the gates open.', y: y - i * 12 }))
    const content = pdf([
      [{ text: 'The yard', y: 740, size: 20 }, ...filler(700)],
      [
        { text: 'Warranty', y: 740, size: 20 },
        { text: 'The warranty of the Corona lantern lasts seven years.', y: 700 },
        ...filler(640),
      ],
    ])
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(content)], { type: 'application/pdf' }), 'yard.pdf')
    const bytes = new Response(form)
    const answer = await client.request('POST', documents, {
      bytes: Buffer.from(await bytes.clone().arrayBuffer()),
      headers: { 'content-type': bytes.headers.get('content-type')! },
    })
    isOk(answer, 202)
    const document = await settled(answer.body.document.id)
    assert.deepEqual([document.status, document.mediaType, document.title], ['ready', 'application/pdf', 'The yard'])
    const { passages } = (await client.get(`${documents}/${document.id}/passages`)).body as { passages: { page: number }[] }
    assert.deepEqual(
      passages.map(({ page }) => page),
      [1, 2],
    )
    isOk(await client.patch(agent, { model: 'extractive' }))
    const session = (await client.post(`${agent}/sessions`, {})).body.session.id
    const message = 'How long does the warranty of the Corona lantern last?'
    const { sources } = (await client.post(`${agent}/sessions/${session}/messages`, { message, include: ['sources'] })).body
    assert.equal(sources[0].page, 2)
    assert.match(sources[0].snippet, /seven years/)
  })

  test('a file that is broken fails with the reason', async () => {
    const { body } = await upload(['name="file"; filename="x.pdf"\r\nContent-Type: application/pdf', '%PDF-1.7 and no more'])
    const document = await settled(body.document.id)
    assert.deepEqual([document.status, document.error.code], ['failed', 'damaged'])
  })
})
