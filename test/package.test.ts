// The npm package: what is in it, and that it works without the source beside it.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isOk } from './support/assert.ts'
import { killed, launch } from './support/cleanup.ts'
import { Client } from './support/client.ts'
import { until } from './support/poll.ts'
import { makeKey } from './support/service.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

describe('the npm package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-package-'))
  const program = join(folder, 'package/dist/main.js')
  let files: string[]
  before(() => {
    const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root, encoding: 'utf8' })
    const [{ filename, files: inside }] = JSON.parse(packed.slice(packed.indexOf('[\n')))
    files = inside.map(({ path }: { path: string }) => path)
    execFileSync('tar', ['-xzf', join(folder, filename), '-C', folder])
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('holds the program, its migrations, thesaurus and documentation, and nothing else', () => {
    const kinds = new Set(files.map((path) => path.split('/', 1)[0]))
    const expected = [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'dist',
      'docs',
      'migrations',
      'package.json',
      'static',
      'thesaurus',
    ]
    assert.deepEqual([...kinds].sort(), expected.sort())
    assert.deepEqual(
      files.filter((path) => /\.ts$|test/.test(path)),
      [],
    )
  })

  test('says what it is made of: every package that it needs, with its version', () => {
    const { bomFormat, components } = JSON.parse(readFileSync(join(folder, 'package/dist/sbom.cdx.json'), 'utf8'))
    assert.equal(bomFormat, 'CycloneDX')
    const named: string[] = components.map(({ name, version }: { name: string; version: string }) => `${name}@${version}`)
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const [name, version] of Object.entries(dependencies)) assert.ok(named.includes(`${name}@${version}`), name)
    assert.ok(!named.some((name) => /^(typescript|react)@/.test(name)))
  })

  test('knows its version', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    assert.equal(execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' }), `${version}\n`)
  })

  /** The path of another version of Node: the package from which the npm package "node" takes it for this machine. */
  function otherNode(version: string): string {
    const name = `node-${process.platform}-${process.arch}@${version}`
    const into = join(folder, version)
    mkdirSync(into)
    const [{ filename }] = JSON.parse(
      execFileSync('npm', ['pack', name, '--json', '--prefer-offline'], { cwd: into, encoding: 'utf8' }),
    )
    execFileSync('tar', ['-xzf', join(into, filename), '-C', into, 'package/bin/node'])
    return join(into, 'package/bin/node')
  }

  for (const version of ['20.0.0', '22.0.0'])
    test(`says what it needs under Node ${version}`, () => {
      const { status, stdout, stderr } = spawnSync(otherNode(version), [program], { encoding: 'utf8' })
      assert.equal(status, 1)
      assert.equal(stdout + stderr, `Repartee needs Node 24 or newer. This is Node ${version}.\n`)
    })

  for (const [name, node] of [
    ['the oldest Node 24', () => otherNode('24.0.0')],
    ['the first Node 24 with long-term support', () => otherNode('24.11.0')],
    ['this Node', () => process.execPath],
  ] as const)
    test(`serves, reads documents and answers from them under ${name}`, () => answers(node()))

  async function answers(node: string): Promise<void> {
    const data = mkdtempSync(join(folder, 'data-'))
    const key = makeKey()
    const child = launch(node, [program], {
      cwd: data,
      env: { PATH: process.env.PATH, REPARTEE_PORT: '0', REPARTEE_ADMIN_KEY: key, REPARTEE_LOG_LEVEL: 'silent' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      let printed = ''
      child.stdout!.on('data', (chunk) => (printed += chunk))
      await until('it is ready', () => /Base URL: (\S+)/.test(printed))
      const client = new Client({ baseUrl: /Base URL: (\S+)/.exec(printed)![1]! }, key)
      const [sample] = (await client.get('/agents')).body.agents
      isOk(await client.post(`/agents/${sample.id}/documents`, { html: '<main><p>The kettle weighs 900 grams.</p></main>' }), 202)
      const waiting = async () => {
        const { pagination } = (await client.get(`/agents/${sample.id}/documents`)).body
        return (await client.get(`/agents/${sample.id}/documents?status=ready`)).body.pagination.total === pagination.total
      }
      await until('all is read', waiting)
      const { session } = (await client.post(`/agents/${sample.id}/sessions`, {})).body
      const { aiMessage } = (
        await client.post(`/agents/${sample.id}/sessions/${session.id}/messages`, { message: 'How heavy is the kettle?' })
      ).body
      assert.match(aiMessage.content, /900 grams/)
    } finally {
      await killed(child, 'SIGTERM')
    }
  }
})
