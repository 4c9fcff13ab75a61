// The npm package of the client: what is in it, and that a project which installs it can run and type it.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startService } from '../support/service.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A program of somebody who has the package; it must run as it is, and pass the strictest checks. */
const PROGRAM = `
import { answerOf, Repartee, ReparteeError, type Agent, type TurnEvent } from 'repartee-client'

declare const process: { env: Record<string, string | undefined> }

const client = new Repartee({ baseUrl: process.env['BASE'] ?? '', key: process.env['KEY'] })
const { agent } = await client.agents.create({ name: 'Shop', model: 'extractive' })
const named: Agent = agent
const { session } = await client.sessions.create({ agentId: named.id })
const seen: TurnEvent['type'][] = []
for await (const event of client.messages.stream({ agentId: agent.id, sessionId: session.id, message: 'Hello' })) seen.push(event.type)
const answer = await answerOf(client.messages.stream({ agentId: agent.id, sessionId: session.id, message: 'Hello' }))
const total: number = (await client.messages.list({ agentId: agent.id, sessionId: session.id })).pagination.total
try {
  await client.sessions.get({ agentId: agent.id, sessionId: agent.id })
} catch (error) {
  if (error instanceof ReparteeError && error.code === 'session_not_found') console.log(seen[0], answer.userMessage.role, total)
}
`
/** Each line is wrong in its own way. */
const WRONG = `
import { Repartee } from 'repartee-client'
const client = new Repartee({ baseUrl: '/v1' })
await client.agents.create({ nam: 'A' })
await client.messages.send({ agentId: 'agent', message: 'Hello' })
const { sesion } = await client.sessions.create({ agentId: 'agent' })
client.sessions.creat({ agentId: 'agent' })
`

/** A page that has the widget, and one in React. */
const PAGE = `
import type { ChatElement, ChatOptions } from 'repartee-client/widget'

const options: ChatOptions = {
  agentId: 'a',
  getToken: async () => ({ token: 't', expiresAt: new Date().toISOString() }),
  labels: { send: 'Go' },
  context: () => document.title,
}
const chat: ChatElement | undefined = window.Repartee?.create(options)
chat?.send('Hello')
const end: (() => void) | undefined = Repartee?.on('message', ({ role, html, sources }) => {
  console.log(role === 'agent' ? html : '', sources?.[0]?.title)
})
document.addEventListener('repartee-error', ({ detail }) => console.log(detail.code === 'quota_exceeded'))
const element = document.querySelector('repartee-chat')
if (element?.isOpen) element.options = { ...element.options, theme: 'dark' }
end?.()
`
const WRONG_PAGE = `
import type {} from 'repartee-client/widget'
Repartee.open()
Repartee?.create({ tokenUrl: '/chat-token' })
Repartee?.create({ agentId: 'a', theme: 'pink' })
Repartee?.on('opened', () => {})
document.createElement('repartee-chat').isOpen = true
`
const REACT = `
import { Repartee } from 'repartee-client'
import { useSession } from 'repartee-client/react'
const client = new Repartee({ baseUrl: '/v1', token: async () => (await fetch('/chat-token')).json() })
export function Chat({ agentId, sessionId }: { agentId: string; sessionId?: string }) {
  const { messages, send, status } = useSession({ client, agentId, sessionId })
  return (
    <main>
      {messages.map(({ id, content }) => <p key={id}>{content}</p>)}
      <button disabled={status !== 'ready'} onClick={() => send('Hello')} />
      <repartee-chat agent={agentId} token-url="/chat-token" theme="dark" className="chat" floating ref={(chat) => chat?.open()} />
    </main>
  )
}
`
const WRONG_REACT = `
import type {} from 'repartee-client/react'
export const Chat = () => <repartee-chat agent="a" side="left" />
export const Other = () => <repartee-chat agentId="a" />
`

describe('the npm package of the client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-client-'))
  const inside = join(folder, 'node_modules/repartee-client')
  let files: string[]
  before(() => {
    const packed = execFileSync('npm', ['pack', '-w', 'repartee-client', '--json', '--pack-destination', folder], {
      cwd: root,
      encoding: 'utf8',
    })
    const [{ filename, files: all }] = JSON.parse(packed.slice(packed.indexOf('[\n')))
    files = all.map(({ path }: { path: string }) => path)
    mkdirSync(inside, { recursive: true })
    execFileSync('tar', ['-xzf', join(folder, filename), '-C', inside, '--strip-components=1'])
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    mkdirSync(join(folder, 'node_modules/@types'))
    symlinkSync(join(root, 'node_modules/@types/react'), join(folder, 'node_modules/@types/react'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('holds what was built, and nothing else', () => {
    assert.deepEqual([...new Set(files.map((path) => path.split('/', 1)[0]))].sort(), [
      'LICENSE',
      'README.md',
      'dist',
      'package.json',
    ])
    assert.deepEqual(
      files.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts')),
      [],
    )
    const manifest = JSON.parse(readFileSync(join(inside, 'package.json'), 'utf8'))
    assert.equal(manifest.dependencies, undefined)
    assert.equal(manifest.private, undefined)
    assert.equal(manifest.license, 'Apache-2.0')
    assert.equal(manifest.version, JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version)
    for (const name of ['conversation', 'react', 'widget']) assert.ok(files.includes(`dist/${name}.js`))
    for (const entry of Object.values(manifest.exports) as Record<string, string>[])
      for (const kind of ['types', 'default']) assert.ok(existsSync(join(inside, entry[kind]!)), entry[kind])
  })

  test('runs in plain Node', async () => {
    const service = await startService()
    try {
      const javascript = PROGRAM.replace(/^declare .*$/m, '')
        .replace(/, type \w+/g, '')
        .replace(/: (Agent|number|TurnEvent\['type'\]\[\])/g, '')
      writeFileSync(join(folder, 'program.mjs'), javascript)
      const env = { PATH: process.env['PATH'], BASE: service.client.address.baseUrl, KEY: service.client.key }
      assert.equal(
        execFileSync(process.execPath, ['program.mjs'], { cwd: folder, env, encoding: 'utf8' }),
        'turn.started USER 4\n',
      )
    } finally {
      await service.stop()
    }
  })

  for (const [how, options] of [
    ['a bundler', { module: 'esnext', moduleResolution: 'bundler' }],
    ['Node', { module: 'nodenext' }],
  ] as const) {
    test(`has types for projects that resolve modules as ${how} does`, () => {
      const lib = ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable']
      const checks = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false }
      const compilerOptions = { ...checks, ...options, target: 'es2022', lib, types: [], jsx: 'react-jsx', noEmit: true }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', '*.tsx'] }))
      const programs = { 'program.ts': PROGRAM, 'wrong.ts': WRONG, 'page.ts': PAGE, 'wrong-page.ts': WRONG_PAGE }
      const pages = { 'react.tsx': REACT, 'wrong-react.tsx': WRONG_REACT }
      for (const [name, text] of Object.entries({ ...programs, ...pages })) writeFileSync(join(folder, name), text)
      const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', '.', '--pretty', 'false'], {
        cwd: folder,
        encoding: 'utf8',
      })
      const errors = [...stdout.matchAll(/^(\S+)\((\d+)/gm)].map(([, file, line]) => `${file}:${line}`)
      const wrong = ['wrong.ts:4', 'wrong.ts:5', 'wrong.ts:6', 'wrong.ts:7']
      const wrongPages = [3, 4, 5, 6, 7].map((line) => `wrong-page.ts:${line}`)
      assert.deepEqual(errors.sort(), [...wrongPages, 'wrong-react.tsx:3', 'wrong-react.tsx:4', ...wrong], stdout)
    })
  }
})
