// Large bodies are parsed in a thread, with the same outcome; a thread that fails fails its own job alone.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { JobThread } from '../../src/core/fairness/job-thread.ts'
import { parseLargeJson } from '../../src/http/json/large-json.ts'
import { parseJson } from '../../src/http/route/body.ts'

const LARGE = 'x'.repeat(3_000_000)
const told = async (work: () => unknown) => {
  try {
    return { value: await work() }
  } catch (error) {
    const { code, message, details } = error as { code?: string; message: string; details?: unknown }
    return { code, message, details }
  }
}

describe('a large body', () => {
  for (const [about, body] of [
    ['that is right', JSON.stringify({ text: LARGE, metadata: { a: ['é', '字', '😀'], b: null, c: 1.5 } })],
    ['of text that is not ASCII', JSON.stringify({ text: `${LARGE}字😀` })],
    ['that is no JSON', `{"text":"${LARGE}"`],
    ['that is null', `${' '.repeat(3_000_000)}null`],
    ['of too many values', `[${'1,'.repeat(2_000_000)}1]`],
    ['with U+0000', `{"text":"${LARGE}","metadata":{"a":"\\u0000"}}`],
    ['with half of a surrogate pair', `{"text":"${LARGE}\\ud800"}`],
    ['that is no UTF-8', Buffer.concat([Buffer.from(`{"text":"${LARGE}`), Buffer.from([0xff]), Buffer.from('"}')])],
    ['of a hundred levels', `{"text":"${LARGE}","a":${'['.repeat(99)}${']'.repeat(99)}}`],
  ] as const)
    test(`${about} comes to the same`, async () => {
      const expected = await told(() => parseJson(Buffer.from(body)))
      assert.deepEqual(await told(() => parseLargeJson(Buffer.from(body), 'somebody')), expected)
    })

  test('that nests deeper than what can go from thread to thread is refused', async () => {
    for (const levels of [101, 5_000, 49_000]) {
      const body = Buffer.from(`{"text":"${LARGE}","a":${'['.repeat(levels)}${']'.repeat(levels)}}`)
      const { code, message } = (await told(() => parseLargeJson(body, 'somebody'))) as { code: string; message: string }
      assert.deepEqual([code, message], ['invalid_request', 'body must not nest lists and objects deeper than 100'])
    }
  })

  test('that is a part of a larger buffer leaves that as it is', async () => {
    const around = Buffer.from(`before{"text":"${LARGE}"}behind`)
    const body = around.subarray(6, -6)
    assert.deepEqual(await parseLargeJson(body, 'somebody'), { text: LARGE })
    assert.equal(around.toString('latin1', 0, 6), 'before')
  })
})

describe('a thread for jobs', () => {
  const unavailable = { code: 'unavailable', message: 'It failed.' }
  const open = (module: string, slowMs?: number) =>
    new JobThread<unknown, unknown>({
      module: new URL(`data:text/javascript,${encodeURIComponent(`${module};parentPort.postMessage('loaded')`)}`),
      heapMb: 32,
      broken: 'It failed.',
      ...(slowMs === undefined ? {} : { slowMs }),
    })

  test('that cannot be started refuses every job', async () => {
    const thread = new JobThread({ module: new URL('http://127.0.0.1/none.js'), heapMb: 32, broken: 'It failed.' })
    for (let i = 0; i < 2; i++) await assert.rejects(thread.run('a', 1), unavailable)
    await Promise.all(['a', 'b'].map((owner) => assert.rejects(thread.run(owner, 1), unavailable)))
  })

  test('that ends over a job does the next ones', async () => {
    const thread = open(`import { parentPort } from 'node:worker_threads'
      parentPort.on('message', (n) => { if (n === 0) process.exit(1); if (n === 1) throw new Error('x'); parentPort.postMessage(n) })`)
    const jobs = [2, 0, 3, 1, 4].map((n) => told(() => thread.run('a', n)))
    const codes = (await Promise.all(jobs)).map((done) => ('value' in done ? done.value : done.code))
    assert.deepEqual(codes, [2, 'unavailable', 3, 'unavailable', 4])
  })

  test('begins a slow job again in a second thread while others wait', async () => {
    const module = `import { parentPort } from 'node:worker_threads'
      parentPort.on('message', ({ say, until }) => {
        while (until !== undefined && Atomics.load(until, 0) === 0);
        parentPort.postMessage(say)
      })`
    const thread = open(module, 20)
    const until = new Int32Array(new SharedArrayBuffer(4))
    const slow = [1, 2, 3].map((say) => thread.run('slow', { say, until }))
    assert.deepEqual(await Promise.all(['a', 'b', 'a'].map((owner, say) => thread.run(owner, { say }))), [0, 1, 2])
    Atomics.store(until, 0, 1)
    assert.deepEqual(await Promise.all(slow), [1, 2, 3])
  })

  test('lets owners take turns', async () => {
    const thread = open(
      `import { parentPort } from 'node:worker_threads'; parentPort.on('message', (n) => parentPort.postMessage(n))`,
    )
    const done: unknown[] = []
    const jobs = ['a1', 'a2', 'a3', 'b1'].map((job) => thread.run(job.slice(0, 1), job).then((answer) => done.push(answer)))
    await Promise.all(jobs)
    assert.deepEqual(done, ['a1', 'a2', 'b1', 'a3'])
  })
})
