import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { findFiles } from '../../src/cli/knowledge/files.ts'
import { until } from '../support/poll.ts'
import { repartee, start } from './repartee.ts'
import { AGENT_ID, oneAgent, type StubAnswer, type StubRequest, stubService } from './stub-service.ts'

const root = mkdtempSync(join(tmpdir(), 'repartee-cli-'))
after(() => rmSync(root, { recursive: true }))

/** Makes a folder of these files. */
function folder(files: Record<string, string>): string {
  const path = mkdtempSync(join(root, 'docs-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}

const fileName = ({ body }: StubRequest) => /filename="([^"]*)"/.exec(body)?.[1] ?? ''
const document = (id: string, status: string, error: object | null = null) => ({
  success: true,
  document: { id, title: id, status, error },
})

/** A knowledge base that takes every file, and has each ready when it is first looked at, unless told otherwise. */
const knowledge =
  (told: { upload?: (name: string) => StubAnswer; look?: (name: string) => StubAnswer } = {}) =>
  (request: StubRequest): StubAnswer => {
    if (request.path.startsWith('/agents?')) return [200, oneAgent]
    if (request.method === 'POST') {
      const name = fileName(request)
      return told.upload === undefined ? [202, document(name, 'queued')] : told.upload(name)
    }
    const name = request.path.split('/').at(-1)!
    return told.look?.(name) ?? [200, document(name, 'ready')]
  }
const uploads = (requests: StubRequest[]) => requests.filter(({ method }) => method === 'POST')
const refusal = (status: number, code: string, message: string): StubAnswer => [
  status,
  { success: false, error: { code, message, requestId: 'r' } },
]

test('a folder is walked: documents are sent by their file name, the rest is counted with the reason', async (t) => {
  const stub = await stubService(knowledge())
  t.after(stub.close)
  const docs = folder({
    'a.md': '# A',
    'deep/er/b.TXT': 'b',
    'c.html': '<p>c',
    'd.htm': '<p>d',
    'e.markdown': 'e',
    'logo.png': 'x',
    'more.png': 'x',
    'empty.md': '',
    '.hidden.md': 'x',
    '.git/config.md': 'x',
    'node_modules/p/readme.md': 'x',
  })
  symlinkSync(docs, join(docs, 'deep', 'round'))
  const { code, stdout, stderr } = await repartee(['knowledge', 'add', 'Support', docs], stub.env)
  assert.equal(code, 0, stderr)
  const sent = uploads(stub.requests)
  assert.deepEqual(sent.map(fileName).sort(), ['a.md', 'c.html', 'd.htm', 'deep/er/b.TXT', 'e.markdown'])
  for (const { path, headers } of sent) {
    assert.equal(path, `/agents/${AGENT_ID}/documents`)
    assert.match(headers['content-type']!, /^multipart\/form-data/)
  }
  assert.match(stdout, /^ready {3}\S+b\.TXT$/m)
  assert.match(stdout, /^5 files: 5 ready, 0 failed\.$/m)
  assert.match(stdout, /^Skipped 7: /m)
  for (const part of ['2 hidden', '2 of another kind (.png)', '1 empty', '1 node_modules', '1 a link to a folder']) {
    assert.ok(stdout.includes(part), `${part} in ${stdout}`)
  }
})

test('a link is followed within the folder, and not out of it', async (t) => {
  const stub = await stubService(knowledge())
  t.after(stub.close)
  const outside = folder({ 'passwords.txt': 'secret' })
  const docs = folder({ 'a.md': '# A', 'deep/b.md': '# B' })
  symlinkSync('../a.md', join(docs, 'deep', 'c.md'))
  symlinkSync(join(outside, 'passwords.txt'), join(docs, 'users.txt'))
  symlinkSync(outside, join(docs, 'more'))
  symlinkSync('gone.md', join(docs, 'broken.md'))
  const { code, stdout, stderr } = await repartee(['knowledge', 'add', 'Support', docs], stub.env)
  assert.equal(code, 0, stderr)
  assert.deepEqual(uploads(stub.requests).map(fileName).sort(), ['a.md', 'deep/b.md', 'deep/c.md'])
  for (const part of ['2 a link that leads out of the folder', '1 not readable']) assert.ok(stdout.includes(part), stdout)
})

test('a file that may not be read is skipped, and the rest is sent', () => {
  const docs = folder({ 'a.md': '# A', 'mine.md': '# Mine' })
  for (const path of [root, docs]) chmodSync(path, 0o755)
  chmodSync(join(docs, 'mine.md'), 0)
  const isAdministrator = process.geteuid?.() === 0
  // Who may read everything does as somebody who may not.
  if (isAdministrator) process.seteuid!(65_534)
  try {
    const { files, skipped } = findFiles([docs])
    assert.deepEqual(files, [{ path: join(docs, 'a.md'), name: 'a.md' }])
    assert.deepEqual(skipped, [{ path: join(docs, 'mine.md'), reason: 'not readable' }])
  } finally {
    if (isAdministrator) process.seteuid!(0)
  }
})

test('a file that is named outright is sent whatever it is, and once', async (t) => {
  const stub = await stubService(knowledge())
  t.after(stub.close)
  const docs = folder({ 'report.pdf': '%PDF', 'a.md': 'a' })
  const { code } = await repartee(['knowledge', 'add', 'Support', join(docs, 'report.pdf'), docs, join(docs, 'a.md')], stub.env)
  assert.equal(code, 0)
  assert.deepEqual(uploads(stub.requests).map(fileName).sort(), ['a.md', 'report.pdf'])
})

test('documents are followed until each is ready or failed; a failure is shown with its reason and the exit code is 1', async (t) => {
  const looks: string[] = []
  const look = (name: string): StubAnswer => {
    looks.push(name)
    if (looks.filter((seen) => seen === name).length < 3) return [200, document(name, 'processing')]
    if (name === 'good.md') return [200, document(name, 'ready')]
    return [200, document(name, 'failed', { code: 'invalid_request', message: 'content is blank' })]
  }
  const stub = await stubService(knowledge({ look }))
  t.after(stub.close)
  const docs = folder({ 'good.md': 'x', 'bad.md': ' ' })
  const { code, stdout } = await repartee(['knowledge', 'add', 'Support', docs], stub.env)
  assert.equal(code, 1)
  assert.match(stdout, /^failed {2}\S+bad\.md: content is blank$/m)
  assert.match(stdout, /^2 files: 1 ready, 1 failed\.$/m)
  assert.equal(looks.length, 6)
})

test('a file that the service refuses does not keep the others out', async (t) => {
  const upload = (name: string): StubAnswer =>
    name === 'big.md'
      ? refusal(413, 'payload_too_large', 'The file is larger than a document may be.')
      : [202, document(name, 'queued')]
  const stub = await stubService(knowledge({ upload }))
  t.after(stub.close)
  const { code, stdout } = await repartee(['knowledge', 'add', 'Support', folder({ 'big.md': 'x', 'small.md': 'x' })], stub.env)
  assert.equal(code, 1)
  assert.match(stdout, /^failed {2}\S+big\.md: The file is larger/m)
  assert.match(stdout, /^2 files: 1 ready, 1 failed\.$/m)
})

test('what no file could do better ends the run at once', async (t) => {
  const stub = await stubService(knowledge({ upload: () => refusal(403, 'forbidden', 'This key lacks the scope.') }))
  t.after(stub.close)
  const docs = folder(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}.md`, 'x'])))
  const { code, stdout, stderr } = await repartee(['knowledge', 'add', 'Support', docs], stub.env)
  assert.equal(code, 1)
  assert.match(stderr, /lacks the scope/)
  assert.match(stdout, /50 files: 0 ready, 50 not sent, 0 failed/)
  assert.ok(uploads(stub.requests).length <= 8, String(uploads(stub.requests).length))
})

test('what the agent knows already is counted apart', async (t) => {
  const stub = await stubService(knowledge({ upload: (name) => [202, document(name, 'ready')] }))
  t.after(stub.close)
  const { stdout } = await repartee(['knowledge', 'add', 'Support', folder({ 'a.md': 'a' })], stub.env)
  assert.match(stdout, /^1 file: 0 ready, 1 known already, 0 failed\.$/m)
})

test('--no-wait returns when everything is sent', async (t) => {
  const stub = await stubService(knowledge({ look: () => undefined }))
  t.after(stub.close)
  const { code, stdout } = await repartee(['knowledge', 'add', 'Support', folder({ 'a.md': 'a' }), '--no-wait'], stub.env)
  assert.equal(code, 0)
  assert.match(stdout, /^1 file: 0 ready, 1 still being indexed, 0 failed\.$/m)
})

test('--json prints one document with every file and what became of it', async (t) => {
  const stub = await stubService(knowledge())
  t.after(stub.close)
  const docs = folder({ 'a.md': 'a', 'b.png': 'b' })
  const { stdout } = await repartee(['knowledge', 'add', 'Support', docs, '--json'], stub.env)
  const { files, skipped } = JSON.parse(stdout)
  assert.deepEqual(
    files.map(({ path, state, document }: { path: string; state: string; document: { id: string } }) => [
      path,
      state,
      document.id,
    ]),
    [[join(docs, 'a.md'), 'ready', 'a.md']],
  )
  assert.deepEqual(skipped, [{ path: join(docs, 'b.png'), reason: 'of another kind (.png)' }])
})

test('^C stops cleanly: no further file is sent, the summary says how far it came, exit code 130', async (t) => {
  const stub = await stubService(knowledge({ upload: (name) => (name === '0.md' ? [202, document(name, 'queued')] : undefined) }))
  t.after(stub.close)
  const docs = folder(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}.md`, 'x'])))
  const { child, ended } = start(['knowledge', 'add', 'Support', docs], stub.env)
  await until('eight uploads hang', () => uploads(stub.requests).length === 9)
  child.kill('SIGINT')
  const { code, stdout, stderr } = await ended
  assert.equal(code, 130)
  assert.match(stdout, /^20 files: 0 ready, 1 still being indexed, 19 not sent, 0 failed\.$/m)
  assert.match(stderr, /^Stopped\. .*run the command again/)
  assert.equal(uploads(stub.requests).length, 9)
})

test('an agent that does not exist is answered with how to create it, and nothing is sent', async (t) => {
  const stub = await stubService(knowledge())
  t.after(stub.close)
  const { code, stderr } = await repartee(['knowledge', 'add', 'Sales', folder({ 'a.md': 'a' })], stub.env)
  assert.equal(code, 1)
  assert.match(stderr, /`repartee agents create "Sales"` makes one/)
  assert.deepEqual(uploads(stub.requests), [])
})

test('a path that is not there, or a folder with nothing to read, is said before anything is sent', async (t) => {
  const stub = await stubService(knowledge())
  t.after(stub.close)
  const gone = await repartee(['knowledge', 'add', 'Support', folder({ 'a.md': 'a' }), join(root, 'gone')], stub.env)
  assert.equal(gone.code, 1)
  assert.match(gone.stderr, /There is no file or folder .*gone/)
  const bare = await repartee(['knowledge', 'add', 'Support', folder({ 'a.png': 'a' })], stub.env)
  assert.equal(bare.code, 1)
  assert.match(bare.stderr, /nothing to add\. Skipped 1: 1 of another kind \(\.png\)/)
  assert.deepEqual(stub.requests, [])
})
