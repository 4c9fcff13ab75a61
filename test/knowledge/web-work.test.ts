// What brings pages of the web in: who comes next, where a host is, and what of a robots.txt counts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { newId } from '../../src/core/platform/ids.ts'
import { LargePages, type LargePlace } from '../../src/knowledge/ingest/large-pages.ts'
import { Owners } from '../../src/knowledge/ingest/owners.ts'
import { NetQueue } from '../../src/knowledge/ingest/web/net-queue.ts'
import { heeded, toRules } from '../../src/knowledge/ingest/web/sync-site.ts'
import { FETCH_RULES, guardedFetch } from '../../src/net/guarded-fetch.ts'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { acceptSite, addPages, openDueRuns } from '../../src/store/knowledge/sites.ts'
import { endsBy } from '../support/cleanup.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-web-'))
after(() => rmSync(folder, { recursive: true }))

describe('work on the network', () => {
  /** A queue of agents that each have four pages to fetch. */
  const newQueue = (name: string, { atOnce = 6, turnMs = 1e9 } = {}) => {
    const file = KnowledgeFile.openToWrite(join(folder, name))
    const owners = new Owners()
    const running: { agent: string; end: () => void; isTurnOver: () => boolean }[] = []
    const woken: string[] = []
    const queue = new NetQueue({
      atOnce,
      atOnceOfAgent: 2,
      owners,
      turnMs,
      list: (_file, except, most) =>
        [1, 2, 3, 4]
          .filter((number) => !except.has(number))
          .slice(0, most)
          .map((number) => ({ number })),
      start: () => {},
      run: (agent, _item, _signal, isTurnOver) => new Promise((end) => running.push({ agent, end, isTurnOver })),
      wake: (agent) => woken.push(agent),
    })
    const fill = (...agents: string[]) => {
      for (const agent of agents) queue.fill(agent, file)
      return running.map(({ agent }) => agent)
    }
    after(() => {
      queue.close()
      file.close()
    })
    return { owners, running, woken, fill }
  }

  test('is offered to an agent that may have more', async () => {
    const { owners, running, woken, fill } = newQueue('offers.db')
    for (const agent of ['first', 'second', 'third']) owners.note(agent, 'key')
    assert.deepEqual(fill('first', 'second', 'third'), ['first', 'first', 'second'])
    running[2]!.end()
    await nextTurn()
    // The first has its two, though it has waited longest.
    assert.equal(woken.at(-1), 'second')
    fill('second')
    running[3]!.end()
    await nextTurn()
    assert.equal(woken.at(-2), 'third')
  })

  test('of a key with many agents leaves room for other keys', async () => {
    const { owners, running, woken, fill } = newQueue('keys.db', { atOnce: 8 })
    const many = ['a', 'b', 'c', 'd']
    for (const agent of many) owners.note(agent, 'many')
    owners.note('other', 'few')
    assert.deepEqual(fill(...many), ['a', 'a', 'b', 'b'])
    assert.deepEqual(fill('other', 'unknown').slice(4), ['other', 'other', 'unknown'])
    // Its own agents have waited longer, but it may have three while others have that many.
    running[0]!.end()
    await nextTurn()
    assert.equal(woken.at(-2), 'unknown')
  })

  test('makes room when its turn is over for an agent that gets the place, and for no other', () => {
    const { owners, running, fill } = newQueue('turns.db', { atOnce: 4, turnMs: -1 })
    for (const agent of ['a', 'b']) owners.note(agent, 'many')
    assert.deepEqual(fill('a'), ['a', 'a'])
    assert.equal(running[0]!.isTurnOver(), false)
    assert.deepEqual(fill('b', 'c').slice(2), ['c'])
    assert.equal(running[0]!.isTurnOver(), true, 'b waits, of the same key')
    assert.equal(running[2]!.isTurnOver(), false, 'a key that has two does not get the place of c')
  })
})

describe('a page of the web', () => {
  test('is had from the address of its host that answers', async () => {
    const server = createServer((_request, response) => response.end('here')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const host = `pages.test:${(server.address() as AddressInfo).port}`
    const rules = { ...FETCH_RULES, allow: new Set([host]), resolve: async () => ['127.0.0.9', '127.0.0.8', '127.0.0.1'] }
    const { body } = await guardedFetch(rules, { url: `http://${host}/` })
    assert.equal(Buffer.from(body).toString(), 'here')
    server.close()
  })

  test('that goes on sending when its time is over is not taken for whole, though it told no length', async () => {
    const server = createServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nThe beginning.')
      const timer = setInterval(() => socket.write('.'), 20)
      socket.on('close', () => clearInterval(timer))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const rules = { ...FETCH_RULES, allow: new Set([host]), timeoutMs: 500 }
    await assert.rejects(guardedFetch(rules, { url: `http://${host}/` }), { code: 'unreachable', transient: true })
    server.close()
  })

  test('of a host whose name nobody resolves is given up in time', async () => {
    const rules = { ...FETCH_RULES, headTimeoutMs: 50, resolve: () => new Promise<string[]>(() => {}) }
    await assert.rejects(guardedFetch(rules, { url: 'http://pages.test/' }), { code: 'unreachable', transient: true })
  })
})

describe('large pages', () => {
  const taken = async (place: LargePlace, signal = new AbortController().signal) => {
    let isTaken = false
    const taking = Promise.resolve(place.take(signal)).then(() => {
      isTaken = true
    })
    await nextTurn()
    return { taking, isTaken: () => isTaken }
  }

  test('are three at once, two of one agent; others wait for a place, agents in turn', async () => {
    const pages = new LargePages()
    const places = ['one', 'one', 'one', 'one', 'two', 'three'].map((agent) => pages.placeFor(agent))
    const states = []
    for (const place of places) states.push(await taken(place))
    assert.deepEqual(
      states.map(({ isTaken }) => isTaken()),
      [true, true, false, false, true, false],
    )
    assert.deepEqual(
      places.map((place) => place.isOverdue(-1)),
      [true, true, false, false, true, false],
    )
    assert.equal(places[0]!.isOverdue(1_000_000), false)
    assert.ok(places[5]!.waitedMs() > 0 && places[0]!.waitedMs() === 0)
    for (const place of [places[0]!, places[4]!]) place.give()
    await nextTurn()
    assert.deepEqual(
      states.map(({ isTaken }) => isTaken()),
      [true, true, false, false, true, true],
    )
    assert.equal(places[5]!.isOverdue(-1), true, 'one waits')
    for (const place of places) place.give()
    await Promise.all(states.map(({ taking }) => taking))
  })

  test('that are given up while they wait leave no place behind', async () => {
    const pages = new LargePages()
    const held = [pages.placeFor('one'), pages.placeFor('one')]
    for (const place of held) await taken(place)
    const stop = new AbortController()
    const { taking } = await taken(pages.placeFor('one'), stop.signal)
    stop.abort(new Error('left'))
    await assert.rejects(taking, /left/)
    await assert.rejects(Promise.resolve(pages.placeFor('one').take(stop.signal)), /left/)
    const broken = pages.placeFor('one')
    await taken(broken)
    broken.give()
    for (const place of held) place.give()
    for (const place of held) assert.equal((await taken(place)).isTaken(), true)
  })

  test('that wait a second time have one place', async () => {
    const pages = new LargePages()
    const held = [pages.placeFor('one'), pages.placeFor('one')]
    for (const place of held) await taken(place)
    const again = pages.placeFor('one')
    await taken(again)
    const second = await taken(again)
    for (const place of held) place.give()
    await second.taking
    again.give()
    for (const place of held) assert.equal((await taken(place)).isTaken(), true)
  })

  test('wait for no place once their connection has broken', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200).write(Buffer.alloc(4_214_304))
      broken.promise.then(() => response.socket!.resetAndDestroy())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    endsBy('a server', () => server.close())
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const broken = Promise.withResolvers<void>()
    let waits: AbortSignal | undefined
    const whenLarge = (signal: AbortSignal) => {
      waits = signal
      broken.resolve()
      return new Promise<void>(() => {})
    }
    const rules = { ...FETCH_RULES, allow: new Set([host]) }
    await assert.rejects(guardedFetch(rules, { url: `http://${host}/`, whenLarge }), { code: 'unreachable' })
    assert.equal(waits!.aborted, true)
  })

  test('are read on when they have a place, packed or not', async () => {
    const text = Buffer.from(Array.from({ length: 300_000 }, (_, i) => `heron ${i * 7_919}`).join(' '))
    const server = createServer((request, response) => {
      const isPacked = request.url === '/packed'
      response.writeHead(200, isPacked ? { 'content-encoding': 'gzip' } : {}).end(isPacked ? gzipSync(text, { level: 1 }) : text)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const rules = { ...FETCH_RULES, allow: new Set([host]) }
    for (const path of ['/', '/packed']) {
      const entered = Promise.withResolvers<void>()
      const asked = Promise.withResolvers<void>()
      const whenLarge = () => {
        asked.resolve()
        return entered.promise
      }
      let isRead = false
      const reading = guardedFetch(rules, { url: `http://${host}${path}`, whenLarge }).then(({ body }) => {
        isRead = true
        assert.ok(text.equals(body))
      })
      await asked.promise
      for (let i = 0; i < 50; i++) await nextTurn()
      assert.equal(isRead, false)
      entered.resolve()
      await reading
    }
    server.close()
  })

  test('may take as long as they may, not counting the wait for a place', async (t) => {
    const server = createServer((_, response) => response.end(Buffer.alloc(5_000_000, 'heron '))).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const rules = { ...FETCH_RULES, allow: new Set([host]) }
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const entered = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const whenLarge = () => {
      asked.resolve()
      return entered.promise
    }
    const reading = guardedFetch(rules, { url: `http://${host}/`, whenLarge })
    await asked.promise
    t.mock.timers.tick(rules.timeoutMs * 2)
    entered.resolve()
    assert.equal((await reading).body.length, 5_000_000)
    server.close()
  })
})

describe('of a robots.txt', () => {
  test('the groups of all robots and of this one count, whatever stands around them', () => {
    const text = `# a
User-agent: Other
User-agent: another/1.0
Disallow: /other
USER-AGENT : Repartee/2.0 # this one
user-agent: third
Disallow: /own*
User-agent: *
Disallow: /`
    assert.deepEqual(heeded(text, 'Repartee').split('\n'), [
      'user-agent: -',
      'Disallow: /other',
      'user-agent: repartee',
      'user-agent: -',
      'Disallow: /own*',
      'user-agent: *',
      'Disallow: /',
    ])
  })

  test('robots that are named again and again are named once for each group', () => {
    for (const between of ['', '# a', 'Sitemap: x', 'nothing']) {
      const named = Array.from({ length: 2_000 }, () => `User-agent: *\n${between}\nUser-agent: x\n${between}`)
      const lines = heeded([...named, ...Array.from({ length: 8_000 }, () => 'Allow: /')].join('\n'), 'Repartee').split('\n')
      assert.deepEqual(lines.slice(0, 3), ['user-agent: *', 'user-agent: -', 'Allow: /'])
      assert.equal(lines.length, 5_002)
    }
  })

  test('thousands of robots and patterns cost little', () => {
    const robots = Array.from({ length: 20_000 }, (_, i) => `User-agent: r${i}`)
    assert.ok(heeded([...robots, ...robots.map(() => 'Allow: /')].join('\n'), 'Repartee').split('\n').length < 20_010)
    const patterns = heeded('Disallow: /a*b*c*d*e\n'.repeat(20_000), 'Repartee')
    assert.ok(patterns.length < 60_000)
  })

  test('addresses that many patterns would have to be compared with are left out', () => {
    const rules = (text: string) => toRules('https://a.test/robots.txt', heeded(`User-agent: *\n${text}`, 'Repartee'), 'Repartee')
    const page = (chars: number) => 'https://a.test/'.padEnd(chars, 'a')
    const few = rules('Disallow: /*.pdf\nDisallow: /private')
    assert.deepEqual([few.isAllowed(page(2_048)), few.isAllowed('https://a.test/private')], [true, false])
    const costly = rules(`Disallow: /${'*a'.repeat(4_900)}b`)
    assert.deepEqual([costly.isAllowed(page(900)), costly.isAllowed(page(2_048))], [true, false])
  })
})

test('runs of sites that are due are opened some at a time, those that are due longest first', () => {
  const file = KnowledgeFile.openToWrite(join(folder, 'due.db'))
  file.write(() => {
    for (let i = 0; i < 450; i++) acceptSite(file, newId(), { type: 'url', url: `https://a.test/${i}`, refreshHours: 1 }, 0)
    file.run('UPDATE site SET run_open = 0, due_at = 1000 - number')
  })
  const open = () =>
    file.get<{ n: number; from: number }>('SELECT count(*) AS n, min(number) AS "from" FROM site WHERE run_open = 1')
  const opened = [1, 2, 3, 4].map(() => {
    file.write(() => openDueRuns(file, 1_000))
    return open()
  })
  assert.deepEqual(
    opened.map((row) => ({ ...row })),
    [
      { n: 200, from: 251 },
      { n: 400, from: 51 },
      { n: 450, from: 1 },
      { n: 450, from: 1 },
    ],
  )
  file.close()
})

describe('the pages of a site', () => {
  test('are added with two statements for 500, each once, and not looked at beyond the most', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'pages.db'))
    let rows = 0
    const [getMany, insertMany, get] = [file.getMany.bind(file), file.insertMany.bind(file), file.get.bind(file)]
    file.getMany = (sql, each) => {
      rows += each.length
      return getMany(sql, each)
    }
    file.insertMany = (sql, each) => {
      rows += each.length
      return insertMany(sql, each)
    }
    let gets = 0
    file.get = (sql, ...params) => {
      gets++
      return get(sql, ...params)
    }
    const run = { number: 1, run: 1, maxPages: 700 }
    const urls = Array.from({ length: 5_000 }, (_, i) => `https://a.test/${i}`)
    assert.equal(
      addPages(
        file,
        run,
        urls.flatMap((url) => [url, url]),
        1,
      ),
      false,
    )
    assert.deepEqual(file.all('SELECT count(*) AS n, max(place) AS last FROM page'), [{ n: 700, last: 699 }])
    assert.ok(rows <= 1_700, `${rows} rows`)
    assert.ok(gets < 10, `${gets} statements`)
    assert.equal(addPages(file, { ...run, run: 2, maxPages: 1_000 }, urls.slice(0, 800), 2), true)
    assert.equal(addPages(file, { ...run, run: 2, maxPages: 1_000 }, urls.slice(600, 900), 3), true)
    assert.deepEqual(file.all('SELECT run, depth, count(*) AS n FROM page GROUP BY run, depth ORDER BY depth'), [
      { run: 2, depth: 2, n: 800 },
      { run: 2, depth: 3, n: 100 },
    ])
    file.close()
  })
})
