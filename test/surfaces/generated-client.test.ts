// A client that a generator makes from the OpenAPI document of the repository, as its readers use it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const OPENAPI = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url))
const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')

type Call = (options: { client: unknown; path: Record<string, string>; body?: object }) => Promise<{
  // biome-ignore lint/suspicious/noExplicitAny: the types of the client are checked by the compiler, in a program of their own
  data: any
  error: unknown
  response: Response
}>
interface Generated {
  createClient(config: object): unknown
  createSession: Call
  sendMessage: Call
  uploadDocument: Call
  replaceDocumentWithFile: Call
  getDocument: Call
}

/** What a program that uses the client writes: it must compile. */
const PROGRAM = `
import { addDocument, replaceDocumentWithFile, uploadDocument } from './generated/index.ts'
const path = { agentId: 'a' }
void addDocument({ path, body: { title: 'Kettle', text: 'It weighs 900 grams.' } })
void uploadDocument({ path, body: { file: new File(['x'], 'x.txt'), title: 'X', metadata: '{}' } }).then(({ data }) => data?.document.id)
void replaceDocumentWithFile({ path: { ...path, documentId: 'd' }, body: { file: new File(['x'], 'x.txt') } })
`

describe('a client that hey-api generates', { skip: needsProcess }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-generated-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const service = await startService()
  after(() => service.stop())
  const { client, model } = service
  let api: Generated

  before(async () => {
    // The generator needs the programming interface that TypeScript had before version 7.
    const hooks = registerHooks({ resolve: (name, at, next) => next(name === 'typescript' ? 'typescript-5' : name, at) })
    const { createClient } = await import('@hey-api/openapi-ts')
    const path = join(folder, 'generated')
    const output = { path, module: { extension: '.ts' } }
    await createClient({ input: OPENAPI, output, logs: { level: 'silent', file: false } })
    hooks.deregister()
    const index: Generated = await import(pathToFileURL(join(path, 'index.ts')).href)
    const { createClient: open } = (await import(pathToFileURL(join(path, 'client/index.ts')).href)) as Generated
    api = { ...index, createClient: open }
  })

  test('compiles under strict rules, with JSON and files in operations of their own', () => {
    writeFileSync(join(folder, 'program.ts'), PROGRAM)
    const flags = ['--strict', '--noEmit', '--allowImportingTsExtensions', '--skipLibCheck', '--types', '']
    const target = [
      '--target',
      'es2024',
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      '--lib',
      'es2024,dom,dom.iterable',
    ]
    const run = spawnSync(process.execPath, [TSC, ...flags, ...target, 'program.ts'], { cwd: folder, encoding: 'utf8' })
    assert.equal(run.status, 0, run.stdout + run.stderr)
  })

  test('creates a session, sends a message, uploads a file and replaces it', async () => {
    // A client with a plain key sends it in the headers of both schemes.
    const mine = api.createClient({ baseUrl: client.address.baseUrl, auth: client.key })
    const agentId = await service.newAgent()
    const created = await api.createSession({ client: mine, path: { agentId }, body: { name: 'Generated' } })
    assert.equal(created.response.status, 201, JSON.stringify(created.error))
    model.behaviour = says('Hello there.')
    const path = { agentId, sessionId: created.data.session.id }
    const sent = await api.sendMessage({ client: mine, path, body: { message: 'Hello' } })
    assert.equal(sent.data.aiMessage.content, 'Hello there.')

    const body = { file: new File(['Green tea is steeped at 80 degrees.'], 'tea.txt'), title: 'Tea' }
    const added = await api.uploadDocument({ client: mine, path: { agentId }, body })
    assert.equal(added.response.status, 202, JSON.stringify(added.error))
    const { id, source } = added.data.document
    assert.deepEqual(source, { type: 'file', filename: 'tea.txt' })
    const one = { agentId, documentId: id }
    const other = { file: new File(['Black tea is steeped at 95 degrees.'], 'black-tea.txt') }
    const replaced = await api.replaceDocumentWithFile({ client: mine, path: one, body: other })
    assert.equal(replaced.response.status, 202, JSON.stringify(replaced.error))
    const document = await until('the new content is ready', async () => {
      const { data } = await api.getDocument({ client: mine, path: one })
      return data.document.status === 'ready' && data.document.source.filename === 'black-tea.txt' && data.document
    })
    assert.equal(document.id, id)
  })
})
