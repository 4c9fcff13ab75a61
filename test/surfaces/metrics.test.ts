// What Prometheus reads: the text that it is given after real requests, read strictly.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { errorCodes } from '../../src/core/errors.ts'
import { isError } from '../support/assert.ts'
import { readEvents } from '../support/events.ts'
import { refuses, says, streams } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const SAMPLE = new RegExp(`^(${NAME})(?:\\{((?:[a-z_]+="(?:[^"\\\\\\n]|\\\\[\\\\"n])*",?)*)\\})? ([0-9.e+-]+|\\+Inf|NaN)$`)
const HEAD = new RegExp(`^# (?:HELP (${NAME}) \\S.*|TYPE (${NAME}) (?:counter|gauge|histogram))$`)

/** Every line must be of the text format of Prometheus, and each figure told of before its samples, once. */
function parse(text: string): Sample[] {
  assert.ok(text.endsWith('\n'))
  const told = new Set<string>()
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      const head = HEAD.exec(line)
      if (head !== null) {
        const kind = line.slice(0, 6) + (head[1] ?? head[2])
        assert.ok(!told.has(kind), `told twice: ${line}`)
        told.add(kind)
        return []
      }
      const found = SAMPLE.exec(line)
      assert.ok(found !== null, `not of the format: ${line}`)
      const [, name, labels = '', value] = found
      assert.ok(told.has(`# TYPE${name}`) || told.has(`# TYPE${name!.replace(/_(bucket|sum|count)$/, '')}`), line)
      const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label!, text!])
      return [{ name: name!, labels: Object.fromEntries(pairs), value: Number(value === '+Inf' ? Infinity : value) }]
    })
}

describe('/metrics', { skip: needsProcess }, async () => {
  const service = await startService()
  after(() => service.stop())
  const { client, model } = service
  const SECRET = `Zanzibar-${randomUUID()}`
  let agent: string
  let session: string
  const scrape = async () => {
    const answer = await client.get('^/metrics')
    assert.equal(answer.status, 200, answer.text)
    return parse(answer.text)
  }
  const figureOf = (samples: Sample[], name: string, labels: Record<string, string> = {}) =>
    samples.find((s) => s.name === name && Object.entries(labels).every(([label, value]) => s.labels[label] === value))?.value

  test('counters whose label values are known begin at 0, so that the first event is an increase', async () => {
    const fresh = await startService()
    try {
      const samples = parse((await fresh.client.get('^/metrics')).text)
      const valuesOf = (name: string) =>
        samples.filter((s) => s.name === `repartee_${name}_total`).map((s) => [s.labels, s.value])
      assert.deepEqual(
        valuesOf('failures'),
        errorCodes.map((code) => [{ code }, 0]),
      )
      assert.deepEqual(
        valuesOf('documents'),
        ['ready', 'failed'].map((outcome) => [{ outcome }, 0]),
      )
      assert.deepEqual(
        valuesOf('database_failures'),
        ['read', 'write'].map((kind) => [{ kind }, 0]),
      )
    } finally {
      await fresh.stop()
    }
  })

  before(async () => {
    agent = await service.newAgent({ name: SECRET })
    session = await service.newSession(agent, { name: SECRET })
    await client.post(`/agents/${agent}/documents`, { title: SECRET, text: `The kettle of ${SECRET} weighs 900 grams.` })
    await client.post(`/agents/${agent}/documents`, { url: 'http://127.0.0.1:1/' })
    await until('both are done with', async () => {
      const { documents } = (await client.get(`/agents/${agent}/documents`)).body
      return documents.every(({ status }: { status: string }) => status === 'ready' || status === 'failed')
    })
  })

  test('is read with a key of the scope admin, and with no other', async () => {
    isError(await client.get('^/metrics', { key: null }), 401, 'unauthorized')
    const { secret } = (await client.post('/keys', { name: 'one', scopes: ['chat', 'read', 'knowledge'] })).body
    isError(await client.as(secret).get('^/metrics'), 403, 'forbidden')
    const bound = (await client.post('/keys', { name: 'two', scopes: ['admin'], agentIds: [agent] })).body.secret
    isError(await client.as(bound).get('^/metrics'), 403, 'forbidden')
    const answer = await client.get('^/metrics', { key: null, headers: { authorization: `Bearer ${client.key}` } })
    assert.equal(answer.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
    assert.equal((await client.post('^/metrics', {})).headers.allow, 'GET, HEAD')
  })

  test('counts requests by route, turns, models, searches and documents', async () => {
    const earlier = await scrape()
    model.behaviour = streams(['It weighs ', '900 grams [1].'])
    assert.equal((await client.post(`${session}/messages`, { message: 'How heavy is the kettle?' })).status, 200)
    model.behaviour = refuses(500)
    isError(await client.post(`${session}/messages`, { message: 'And the pot?' }), 502, 'model_failed')
    isError(await client.get(`/agents/${randomUUID()}`), 404, 'agent_not_found')
    model.behaviour = says('A reply.')
    const samples = await scrape()
    const grown = (name: string, labels?: Record<string, string>) =>
      (figureOf(samples, name, labels) ?? 0) - (figureOf(earlier, name, labels) ?? 0)
    const route = '/v1/agents/:agentId/sessions/:sessionId/messages'
    assert.equal(grown('repartee_http_request_duration_seconds_count', { method: 'POST', route, status: '200' }), 1)
    assert.equal(grown('repartee_http_request_duration_seconds_count', { method: 'POST', route, status: '502' }), 1)
    assert.equal(grown('repartee_turn_duration_seconds_count', { outcome: 'ok' }), 1)
    assert.equal(grown('repartee_turn_duration_seconds_count', { outcome: 'model_failed' }), 1)
    assert.equal(grown('repartee_turn_first_text_seconds_count'), 1)
    assert.equal(grown('repartee_model_call_duration_seconds_count', { provider: 'openai', outcome: 'ok' }), 1)
    // A question that leans on the one before is put into other words first: that call fails, too.
    assert.equal(grown('repartee_model_call_duration_seconds_count', { provider: 'openai', outcome: 'model_failed' }), 2)
    assert.equal(grown('repartee_model_first_text_seconds_count', { provider: 'openai' }), 1)
    for (const kind of ['in', 'out']) assert.ok(grown('repartee_model_tokens_total', { model: 'openai/stub', kind }) > 0)
    assert.ok(grown('repartee_retrieval_duration_seconds_count') >= 2)
    assert.equal(grown('repartee_failures_total', { code: 'model_failed' }), 1)
    assert.equal(grown('repartee_failures_total', { code: 'agent_not_found' }), 1)
    assert.ok(grown('repartee_database_duration_seconds_count', { kind: 'write' }) >= 2)
    for (const outcome of ['ready', 'failed']) assert.equal(figureOf(samples, 'repartee_documents_total', { outcome }), 1)
    assert.equal(figureOf(samples, 'repartee_ready'), 1)
  })

  test('buckets of a histogram hold what the smaller ones hold, and the last holds all', async () => {
    const samples = await scrape()
    const bySeries = Map.groupBy(
      samples.filter(({ name }) => name.endsWith('_bucket')),
      ({ name, labels: { le, ...labels } }) => name + JSON.stringify(labels),
    )
    assert.ok(bySeries.size > 10)
    for (const series of bySeries.values()) {
      const values = series.map(({ value }) => value)
      assert.deepEqual(
        values,
        [...values].sort((a, b) => a - b),
      )
      const { name, labels } = series.at(-1)!
      assert.equal(labels['le'], '+Inf')
      const { le, ...own } = labels
      assert.equal(values.at(-1), figureOf(samples, name.replace('_bucket', '_count'), own))
    }
  })

  test('tells what is under way: turns, those who wait, and streams', async () => {
    const gate = Promise.withResolvers<void>()
    model.behaviour = streams(['A ', 'reply.'], { gates: [Promise.resolve(), gate.promise] })
    const stream = await readEvents(client, 'POST', `${session}/messages`, { body: { message: 'Why?' } })
    const second = client.post(`${session}/messages`, { message: 'And?' })
    await until('both are told', async () => {
      const samples = await scrape()
      const standing = ['sessions_busy', 'sends_waiting', 'event_streams'].map((name) => figureOf(samples, `repartee_${name}`))
      return standing.every((value) => value === 1)
    })
    gate.resolve()
    await Promise.all([stream.ended, second])
    await until('nothing is under way', async () => figureOf(await scrape(), 'repartee_sessions_busy') === 0)
  })

  test('tells of the process', async () => {
    const samples = await scrape()
    const names = ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'process_open_fds', 'process_max_fds']
    for (const name of [...names, 'nodejs_heap_size_used_bytes', 'nodejs_eventloop_lag_p99_seconds'])
      assert.ok(figureOf(samples, name)! > 0, name)
    const { labels } = samples.find(({ name }) => name === 'repartee_build_info')!
    assert.match(labels['version']!, /^\d+\.\d+\.\d+/)
  })

  test('says nothing of whom, and nothing of what was said', async () => {
    const { text } = await client.get('^/metrics')
    assert.doesNotMatch(text, /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/)
    for (const word of [SECRET, 'kettle', client.key, '127.0.0.1']) assert.ok(!text.includes(word), word)
  })

  test('alerts and the dashboard ask for figures that are told', async () => {
    const { text } = await client.get('^/metrics')
    const told = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!))
    for (const file of ['prometheus-rules.yaml', 'grafana-dashboard.json']) {
      const asked = readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8')
      const names = new Set([...asked.matchAll(/\b(?:repartee|nodejs|process)_\w+/g)].map(([name]) => name))
      assert.ok(names.size > 5)
      for (const name of names)
        assert.ok(told.has(name) || told.has(name.replace(/_(bucket|count|sum)$/, '')), `${file}: ${name}`)
    }
  })

  test('names no path that a caller made up', async () => {
    await client.get(`^/nowhere/${SECRET}`)
    const samples = await scrape()
    assert.ok(figureOf(samples, 'repartee_http_request_duration_seconds_count', { route: 'none', status: '404' })! >= 1)
    assert.ok(!samples.some(({ labels }) => Object.values(labels).some((value) => value.includes('nowhere'))))
  })
})
